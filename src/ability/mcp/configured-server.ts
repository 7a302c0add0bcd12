// One MCP server of an instance: its manifest, its state, and its client, which is created when first needed. Calling a
// tool of a stopped server starts it.
import { AsyncLocalStorage } from "node:async_hooks"
import { type Caller, createElicit } from "#ability/elicitation/create-elicit.ts"
import { listOffers } from "#ability/mcp/client/lists.ts"
import { meansUnknownTool } from "#ability/mcp/server/errors.ts"
import type {
  MCPClient,
  MCPClientConfig,
  MCPHooks,
  MCPLog,
  MCPServerConfig,
  MCPServerInfo,
} from "#ability/mcp/server/types.ts"
import type { ServerTool, ToolServer } from "#ability/tool/server-tools.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import { orAborted } from "#util/wait.ts"
import * as Manifest from "./manifest.ts"
import type { State } from "./server-status.ts"

export type ConfiguredServer = ToolServer &
  Readonly<{
    server: MCPServerConfig
    state(): State
    error(): string | undefined
    manifest(): Manifest.Manifest | undefined
    /** No connection was ever tried with these settings. */
    isNew(): boolean
    /** It is time to start the server again: its lists are stale, or its last failure is old enough. */
    isDue(): boolean
    /** Connects if needed, and resolves to the client. */
    connect(signal?: AbortSignal): Promise<MCPClient>
    /** Runs requests other than tool calls. Meanwhile the server may ask the caller's person questions (elicitation). */
    use<T>(caller: Caller, work: (client: MCPClient) => Promise<T>): Promise<T>
    /** Records a timeout as a failure, so that the next start does not wait for this server. */
    giveUpWaiting(): void
    disconnect(): Promise<void>
    close(): Promise<void>
  }>

const connectLimit = 60_000
const failureAge = 60_000
const manifestAge = 86_400_000
/** The pause between two reads of a server that keeps reporting changed lists. */
const settleTime = 500
const logAt = { debug: Log.debug, info: Log.info, warning: Log.warn, error: Log.error }
const maxListProblems = 20

export function createConfiguredServer(options: {
  server: MCPServerConfig
  program?: readonly string[] | undefined
  hooks?: MCPHooks | undefined
  /** The lowest level of log messages to request from the server; default: none are requested. */
  logLevel?: MCPLog["level"] | undefined
  roots: string[]
  /** Throws if the program of the server is not allowed to start. */
  mayStart(): Promise<void>
  /** The server is started after this has settled. */
  after?: Promise<unknown> | undefined
  /** Called when the state or the lists of the server have changed. */
  onChange(one: ConfiguredServer): Promise<void> | void
}): ConfiguredServer {
  const { server } = options
  let manifest = Manifest.read(server)
  /** When the lists were last read, and how long they stay valid. `manifest` is replaced only if they have changed. */
  let freshness: Manifest.Freshness = { time: 0 }
  let client: MCPClient | undefined
  let opening: Promise<MCPClient> | undefined
  let state: State = manifest?.error === undefined ? "idle" : "failed"
  let refreshing: NodeJS.Timeout | undefined
  let isClosed = false
  let writing = Promise.resolve()
  const elicit = createElicit(server.id)
  /** Problems with its lists at the last read. */
  let listProblems: string[] = []

  const one: ConfiguredServer = Object.freeze({
    server,
    program: options.program,
    state: stateNow,
    error: errorNow,
    manifest: () => manifest,
    isNew: () => manifest === undefined,
    isDue,
    connect,
    giveUpWaiting: () => keep(Manifest.failed("it did not answer in time", manifest)),
    disconnect,
    close,
    listTools: async (): Promise<ServerTool[]> => manifest?.tools ?? [],
    async offerTool() {
      // Without resources or prompts the extra tool would only make requests larger.
      if (!manifest || !Manifest.hasMoreThanTools(manifest)) return undefined
      return (await import("./offer-tool.ts")).offerTool(one, manifest)
    },
    use: (caller, work) => elicit.during(caller, async () => work(await connect(caller.signal))),
    callTool: (name, args, { sessionId, whileAsking, onReady, ...call }) =>
      one.use({ sessionId, whileAsking, signal: call.signal }, async (ready) => {
        onReady?.(manifest?.tools ?? [])
        const answer = ready.callTool(name, args, call)
        await answer.then(refreshIfUnknown, refreshIfUnknown)
        return answer
      }),
  })
  return one

  /** `state`, unless the connection has been lost since. */
  function stateNow(): State {
    const now = client?.status().state ?? "idle"
    if (state !== "connected" || now === "connected") return state
    return now === "failed" || now === "connecting" ? now : "idle"
  }

  /** Redacted: an error may quote a path or command with the value of a secret variable. */
  function errorNow(): string | undefined {
    const { state, error } = client?.status() ?? {}
    const now = (state === "failed" ? error : undefined) ?? manifest?.error
    return now === undefined ? undefined : Secret.redact(now)
  }

  function isDue(): boolean {
    if (stateNow() === "connected") return Manifest.isStale(freshness)
    if (!manifest || state === "connected" || state === "connecting" || state === "disconnected") return false
    return Date.now() - manifest.time > (manifest.error === undefined ? manifestAge : failureAge)
  }

  async function connect(signal?: AbortSignal): Promise<MCPClient> {
    // While `opening` is pending, the client may be connected, but its lists are not read yet.
    if (!opening && client?.status().state === "connected") {
      if (Manifest.isStale(freshness)) refreshSoon()
      return client
    }
    opening ??= open().finally(() => {
      opening = undefined
    })
    return signal ? orAborted(opening, signal) : opening
  }

  async function open(): Promise<MCPClient> {
    await options.after
    const { createMCPClient } = await import("#ability/mcp/client/create-client.ts")
    if (isClosed) throw new Error(`the MCP server ${server.id} was closed`)
    const own: MCPClient = client ?? createMCPClient(clientConfig())
    client = own
    await change("connecting")
    try {
      const info = await own.connect({ signal: AbortSignal.timeout(connectLimit) })
      keep(await readLists(own, info))
      await change("connected")
      return own
    } catch (error) {
      if (!isClosed && client === own) {
        keep(Manifest.failed(error, manifest))
        await change("failed")
      }
      throw error
    }
  }

  function clientConfig(): MCPClientConfig {
    const { hooks, roots, mayStart, logLevel } = options
    return {
      server,
      roots,
      ...(logLevel ? { features: { logging: logLevel } } : {}),
      mayStart: AsyncLocalStorage.bind(mayStart),
      onChanged: AsyncLocalStorage.bind(() => refreshSoon()),
      onElicit: AsyncLocalStorage.bind(elicit.onElicit),
      hooks: { ...hooks, onLog: noteLog },
    }
  }

  function noteLog(log: MCPLog): void {
    const isOfList = log.source === "client" && /^(tools|resources|prompts)\/[\w/]*list\b/.test(log.message)
    if (isOfList && listProblems.length < maxListProblems) listProblems.push(log.message)
    if (log.source === "server") logAt[log.level](`MCP server ${server.id}: ${log.message}`)
    options.hooks?.onLog?.(log)
  }

  async function readLists(own: MCPClient, info: MCPServerInfo): Promise<Manifest.Manifest> {
    listProblems = []
    const offers = await listOffers(own, info)
    const changed = Manifest.describeChangedTools(server.id, {
      before: manifest?.tools ?? [],
      now: offers.tools,
    })
    const problems = [...(offers.problems ?? []), ...listProblems, ...changed].map((text) =>
      plainText(text, 300),
    )
    const time = Date.now()
    freshness = offers.ttl === undefined ? { time } : { time, ttl: offers.ttl }
    return { version: 1, time, info, ...offers, ...(problems.length ? { problems } : {}) }
  }

  function refreshSoon(): void {
    refreshing ??= setTimeout(async () => {
      const own = client
      const isOver = () => isClosed || client !== own
      try {
        const info = own?.status().info
        if (isClosed || !own || !info) return
        const next = await readLists(own, info)
        if (isOver() || (manifest && Manifest.isSame(manifest, next))) return
        keep(next)
        await change("connected")
      } catch (error) {
        if (isOver()) return
        // The next attempt is made when it is due, not at the next call.
        freshness = { ...freshness, time: Date.now() }
        Log.warn("the lists of an MCP server could not be read", {
          server: server.id,
          error: errorText(error),
        })
      } finally {
        refreshing = undefined
      }
    }, settleTime).unref()
  }

  /** Reads the lists again if the server does not know a tool that it listed. */
  function refreshIfUnknown(answer: unknown): void {
    if (meansUnknownTool(answer)) refreshSoon()
  }

  function keep(next: Manifest.Manifest): void {
    manifest = next
    writing = writing.then(() => Manifest.write(server, next))
  }

  async function change(next: State): Promise<void> {
    if (isClosed) return
    state = next
    await options.onChange(one)
  }

  async function disconnect(): Promise<void> {
    const own = client
    client = undefined
    await own?.close()
    await change("disconnected")
  }

  async function close(): Promise<void> {
    isClosed = true
    clearTimeout(refreshing)
    await client?.close()
    await opening?.catch(() => undefined)
    await writing
  }
}
