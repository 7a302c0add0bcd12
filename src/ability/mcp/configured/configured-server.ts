// One configured server: its known state, from disk or from the server itself, and its client, which is created when
// first needed. Calling a tool of a stopped server starts it.
import { AsyncLocalStorage } from "node:async_hooks"
import { type Caller, createElicit } from "#ability/elicitation/create-elicit.ts"
import { meansUnknownTool } from "#ability/mcp/client/means-unknown-tool.ts"
import { listOffers, sayChangedTools } from "#ability/mcp/registry/list-offers.ts"
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
import * as Secret from "#kernel/process/secret.ts"
import { errorText } from "#util/error.ts"
import { orAborted } from "#util/or-aborted.ts"
import { plainText } from "#util/plain-text.ts"
import type { State } from "./changed.ts"
import * as Manifest from "./manifest.ts"

export type ConfiguredServer = ToolServer &
  Readonly<{
    server: MCPServerConfig
    source: string
    state(): State
    error(): string | undefined
    manifest(): Manifest.Manifest | undefined
    /** Nobody ever tried it with these settings. */
    isNew(): boolean
    /** Long enough ago that it is worth asking again. */
    isDue(): boolean
    /** Its client, connected. */
    connect(signal?: AbortSignal): Promise<MCPClient>
    /** Something else than a call of a tool, in whose time it may ask the person behind the caller. */
    use<T>(caller: Caller, work: (client: MCPClient) => Promise<T>): Promise<T>
    /** Remember for the next start that nobody should wait for it. */
    giveUpWaiting(): void
    disconnect(): Promise<void>
    close(): Promise<void>
  }>

const connectLimit = 60_000
const failureAge = 60_000
const manifestAge = 86_400_000
/** The pause between two reads of a server that keeps reporting changed lists. */
const settleTime = 500
const maxComplaints = 20

export function createConfiguredServer(options: {
  server: MCPServerConfig
  source: string
  program?: readonly string[] | undefined
  hooks?: MCPHooks | undefined
  /** Log messages of the server from this level on; default: none are requested. */
  logLevel?: MCPLog["level"] | undefined
  roots: string[]
  /** Throws if its program must not start. */
  mayStart(): Promise<void>
  /** It starts only when this is over. */
  after?: Promise<unknown> | undefined
  /** Its state or its offers have changed. */
  onChange(one: ConfiguredServer): Promise<void> | void
}): ConfiguredServer {
  const { server, source } = options
  let manifest = Manifest.read(server)
  /** When its lists were last read; the manifest is the same object as long as they are equal. */
  let looked: Manifest.Look = { time: 0 }
  let client: MCPClient | undefined
  let opening: Promise<MCPClient> | undefined
  let state: State = manifest?.error === undefined ? "idle" : "failed"
  let looking: NodeJS.Timeout | undefined
  let isClosed = false
  const writes = new Set<Promise<void>>()
  const elicit = createElicit(server.id)
  /** Problems with its lists at the last read. */
  let complaints: string[] = []

  const one: ConfiguredServer = Object.freeze({
    server,
    source,
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
    offerTool: async () => (await import("./offer-tool.ts")).offerTool(one),
    use: (caller, work) => elicit.during(caller, async () => work(await connect(caller.signal))),
    callTool: (name, args, { sessionId, whileAsking, onReady, ...call }) =>
      one.use({ sessionId, whileAsking, signal: call.signal }, async (ready) => {
        onReady?.(manifest?.tools ?? [])
        const answer = ready.callTool(name, args, call)
        await answer.then(lookIfUnknown, lookIfUnknown)
        return answer
      }),
  })
  return one

  /** One that was up may have ended since. */
  function stateNow(): State {
    const now = client?.status().state ?? "idle"
    if (state !== "connected" || now === "connected") return state
    return now === "failed" || now === "connecting" ? now : "idle"
  }

  /** A folder or a program may have been written with a variable that is a secret. */
  function errorNow(): string | undefined {
    const { state, error } = client?.status() ?? {}
    const now = (state === "failed" ? error : undefined) ?? manifest?.error
    return now === undefined ? undefined : Secret.redact(now)
  }

  function isDue(): boolean {
    if (stateNow() === "connected") return Manifest.isStale(looked)
    if (!manifest || state === "connected" || state === "connecting" || state === "disconnected") return false
    return Date.now() - manifest.time > (manifest.error === undefined ? manifestAge : failureAge)
  }

  async function connect(signal?: AbortSignal): Promise<MCPClient> {
    // A running server is usable once its lists are known.
    if (!opening && client?.status().state === "connected") {
      if (Manifest.isStale(looked)) lookAgain()
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
      keep(await look(own, info))
      await change("connected")
      return own
    } catch (error) {
      if (!isClosed && client === own) {
        keep(Manifest.failed(Secret.redact(errorText(error)), manifest))
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
      onChanged: AsyncLocalStorage.bind(() => lookAgain()),
      onElicit: AsyncLocalStorage.bind(elicit.onElicit),
      hooks: { ...hooks, onLog: noteLog },
    }
  }

  function noteLog(log: MCPLog): void {
    const isOfList = log.source === "client" && /^(tools|resources|prompts)\/[\w/]*list\b/.test(log.message)
    if (isOfList && complaints.length < maxComplaints) complaints.push(log.message)
    if (log.source === "server") logServer(server.id, log)
    options.hooks?.onLog?.(log)
  }

  async function look(own: MCPClient, info: MCPServerInfo): Promise<Manifest.Manifest> {
    complaints = []
    const offers = await listOffers(own, info)
    const changed = sayChangedTools(server.id, { before: manifest?.tools ?? [], now: offers.tools })
    const problems = [...(offers.problems ?? []), ...complaints, ...changed].map((text) =>
      plainText(text, 300),
    )
    const time = Date.now()
    looked = offers.ttl === undefined ? { time } : { time, ttl: offers.ttl }
    return { version: 1, time, info, ...offers, ...(problems.length ? { problems } : {}) }
  }

  function lookAgain(): void {
    looking ??= setTimeout(async () => {
      const own = client
      const isOver = () => isClosed || client !== own
      try {
        const info = own?.status().info
        if (isClosed || !own || !info) return
        const next = await look(own, info)
        if (isOver() || (manifest && Manifest.isSame(manifest, next))) return
        keep(next)
        await change("connected")
      } catch (error) {
        if (isOver()) return
        // It is asked again when it is due, not at the next call.
        looked = { ...looked, time: Date.now() }
        Log.warn("an MCP server did not say what it offers now", {
          server: server.id,
          error: errorText(error),
        })
      } finally {
        looking = undefined
      }
    }, settleTime).unref()
  }

  /** A tool that we know and the server does not: its list is another one now. */
  function lookIfUnknown(answer: unknown): void {
    if (meansUnknownTool(answer)) lookAgain()
  }

  function keep(next: Manifest.Manifest): void {
    manifest = next
    const write = Manifest.write(server, next).finally(() => writes.delete(write))
    writes.add(write)
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
    clearTimeout(looking)
    await client?.close()
    await opening?.catch(() => undefined)
    await Promise.all(writes)
  }
}

/** Only requested messages arrive here. */
function logServer(id: string, { level, message }: MCPLog): void {
  const write = { debug: Log.debug, info: Log.info, warning: Log.warn, error: Log.error }[level]
  write(`MCP server ${id}: ${message}`)
}
