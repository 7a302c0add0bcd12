// One connection to a server, from the first message to its end: the SDK's client on our transport.
import type {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client"
import { createBearer } from "#ability/mcp/login/bearer.ts"
import { InvalidServer } from "#ability/mcp/server/errors.ts"
import type { SDK } from "#ability/mcp/server/sdk.ts"
import type { MCPClientConfig, MCPLog, MCPServerInfo } from "#ability/mcp/server/types.ts"
import { createBoundedFetch } from "#ability/mcp/transport/bounded-fetch.ts"
import { createSseTransport } from "#ability/mcp/transport/sse-transport.ts"
import { createStdioTransport, type StdioTransport } from "#ability/mcp/transport/stdio-transport.ts"
import { errorText } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import { version } from "#util/version.ts"
import { withCallHooks } from "./call-hooks.ts"
import { answerServer, capabilitiesOf } from "./handlers.ts"
import { createOutputValidator } from "./output-validator.ts"

export type Connection = {
  client: Client
  info: MCPServerInfo
  /** Whether a person is being asked something for the server. */
  isAsking(): boolean
  /** Why the server ended by itself. */
  failure(): Error | undefined
  /** Whether the server has given the connection a session id. */
  hasSession(): boolean
  /** Listeners for changes of a resource. */
  updates: Set<(uri: string) => void>
  close(): Promise<void>
}
/** Milliseconds for the handshake. */
export const connectTime = 60_000

type Inner = { stdio?: StdioTransport; http?: StreamableHTTPClientTransport; sse?: SSEClientTransport }

/** Milliseconds for the first request. A program that knows only older revisions may never answer it. */
const probeTime = 10_000
const goodbye = 1_000
/** More open questions than this are declined. */
const mostQuestions = 8
const maxName = 100
const maxInstructions = 10_000

export async function openConnection(options: {
  sdk: SDK
  config: MCPClientConfig
  /** The server is known to speak an older revision only. */
  legacy: boolean
  signal: AbortSignal
  onLog: (log: MCPLog) => void
  onClose: (connection: Connection) => void
}): Promise<Connection> {
  const { config, onLog } = options
  await config.mayStart?.()
  options.signal.throwIfAborted()
  const inner = open(options)
  const transport = withCallHooks({
    transport: (inner.stdio ?? inner.http ?? inner.sse)!,
    hooks: config.hooks ?? {},
    onLog,
  })
  const client = createClient(options)
  let questions = 0
  const updates = new Set<(uri: string) => void>()
  answerServer({
    client,
    config,
    onLog,
    asking: async (question) => {
      if (questions >= mostQuestions) return undefined
      questions++
      try {
        return await question()
      } finally {
        questions--
      }
    },
  })
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    for (const listener of updates) listener(params.uri)
  })
  client.onerror = (error) => onLog({ level: "debug", source: "client", message: errorText(error) })

  const close = async () => {
    if (inner.http?.sessionId)
      await Promise.race([inner.http.terminateSession().catch(() => {}), pause(goodbye)])
    await client.close()
    // The SDK does not close a connection that failed during the handshake.
    await transport.close()
  }
  const failure = () => inner.stdio?.failure()
  // The SDK's first request ignores the signal.
  const giveUp = () => void transport.close()
  options.signal.addEventListener("abort", giveUp, { once: true })
  try {
    await connect({ client, transport, options })
  } catch (error) {
    await transport.close()
    throw failure() ?? error
  } finally {
    options.signal.removeEventListener("abort", giveUp)
  }
  const connection: Connection = Object.freeze({
    client,
    info: infoOf(client, config.server.name),
    isAsking: () => questions > 0,
    failure,
    hasSession: () => inner.http?.sessionId !== undefined,
    updates,
    close,
  })
  client.onclose = () => options.onClose(connection)
  if (failure()) throw failure()
  const { logging } = config.features ?? {}
  if (logging && client.getServerCapabilities()?.logging && isLegacy(client))
    await client.setLoggingLevel(logging === true ? "debug" : logging).catch(() => {})
  return connection
}

export function isLegacy(client: Client): boolean {
  return client.getProtocolEra() === "legacy"
}

function open({ sdk, config, onLog }: Parameters<typeof openConnection>[0]): Inner {
  const { server, hooks = {} } = config
  if (server.transport === "stdio") return { stdio: createStdioTransport({ server, onLog }) }
  const url = URL.canParse(server.url ?? "") ? new URL(server.url!) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidServer(server, "it needs an http or https URL")
  if (url.username || url.password)
    throw new InvalidServer(server, "its URL has a user name or password in it")
  const authProvider = createBearer({ sdk, server, hooks, resolve: config.resolve })
  const options = {
    fetch: createBoundedFetch(config),
    ...(server.headers ? { requestInit: { headers: server.headers } } : {}),
    ...(authProvider ? { authProvider } : {}),
  }
  if (server.transport === "sse") return { sse: createSseTransport(sdk, url, options) }
  return {
    http: new sdk.StreamableHTTPClientTransport(url, { ...options, onInsufficientScope: "throw" }),
  }
}

function createClient({ sdk, config }: Parameters<typeof openConnection>[0]): Client {
  const { onChanged } = config
  const changed = (what: "tools" | "resources" | "prompts") => ({
    autoRefresh: false,
    debounceMs: 50,
    onChanged: () => onChanged?.(what),
  })
  return new sdk.Client(
    { name: "vitamin", version },
    {
      capabilities: capabilitiesOf(config),
      versionNegotiation: {
        mode: "auto",
        ...(config.server.transport === "stdio" ? { probe: { timeoutMs: probeTime } } : {}),
      },
      jsonSchemaValidator: createOutputValidator(sdk),
      listMaxPages: 0,
      ...(onChanged
        ? {
            listChanged: {
              tools: changed("tools"),
              resources: changed("resources"),
              prompts: changed("prompts"),
            },
          }
        : {}),
    },
  )
}

async function connect(given: {
  client: Client
  transport: Transport
  options: Parameters<typeof openConnection>[0]
}) {
  const { client, transport, options } = given
  await client.connect(transport, {
    timeout: connectTime,
    signal: options.signal,
    ...(options.legacy || options.config.server.transport === "sse" ? { prior: { kind: "legacy" } } : {}),
  })
}

function infoOf(client: Client, name: string): MCPServerInfo {
  const server = client.getServerVersion()
  const instructions = client.getInstructions()
  return {
    name: plainText(server?.name ?? name, maxName),
    version: plainText(server?.version ?? "", maxName),
    protocol: client.getNegotiatedProtocolVersion() ?? "",
    capabilities: { ...client.getServerCapabilities() },
    ...(instructions ? { instructions: plainText(instructions, maxInstructions) } : {}),
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
