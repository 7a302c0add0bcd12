// Sessions for HTTP clients of the 2025 revisions. Each client gets an MCP server of its own with `initialize`, so that its
// cancellations and answers reach the right call. Sessions expire; the client then has to initialize again.
import { randomUUID } from "node:crypto"
import {
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"

type Live = { transport: WebStandardStreamableHTTPServerTransport; usedAt: number }

const maxSessions = 500
const maxIdle = 24 * 3_600_000

export type LegacySessions = Readonly<{
  fetch(request: Request, parsedBody?: unknown): Promise<Response>
  close(): Promise<void>
}>

export function createLegacySessions(createServer: () => Server): LegacySessions {
  const sessions = new Map<string, Live>()

  async function fetch(request: Request, parsedBody?: unknown): Promise<Response> {
    const id = request.headers.get("mcp-session-id")
    if (id === null && !isInitializeRequest(parsedBody))
      return refusal(400, "Bad Request: the header Mcp-Session-Id is missing. Send initialize first.")
    const live = id === null ? await begin() : sessions.get(id)
    if (!live) return refusal(404, "Session not found. Send initialize again.")
    live.usedAt = performance.now()
    return live.transport.handleRequest(request, parsedBody === undefined ? {} : { parsedBody })
  }

  async function begin(): Promise<Live> {
    await dropExpired()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, live),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const live: Live = { transport, usedAt: performance.now() }
    await createServer().connect(transport)
    return live
  }

  async function dropExpired(): Promise<void> {
    const byAge = [...sessions].sort(([, a], [, b]) => a.usedAt - b.usedAt)
    const tooMany = byAge.length - maxSessions
    const oldest = performance.now() - maxIdle
    for (const [i, [id, { transport, usedAt }]] of byAge.entries()) {
      if (i > tooMany && usedAt > oldest) return
      sessions.delete(id)
      await transport.close()
    }
  }

  async function close(): Promise<void> {
    const all = [...sessions.values()]
    sessions.clear()
    await Promise.all(all.map(({ transport }) => transport.close()))
  }

  return Object.freeze({ fetch, close })
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status })
}
