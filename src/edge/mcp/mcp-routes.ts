// The MCP server as a route of the HTTP server, with the same token, Host and Origin checks and limits as other routes.
// Requests of revision 2026-07-28 are stateless; clients of older revisions have sessions.
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server"
import { z } from "zod"
import { defineHttpRoute, type Route, securityHeaders } from "#edge/server/define-route.ts"
import * as Log from "#kernel/process/log.ts"
import { createConsents } from "./consents.ts"
import { createMcpServer, type Options } from "./create-mcp-server.ts"
import { createLegacySessions } from "./legacy-sessions.ts"

export function createMcpRoutes(options: Options): { routes: Route[]; close(): Promise<void> } {
  // The HTTP server has already entered the instance of the request's folder.
  const inside = <T>(fn: () => T) => fn()
  const consents = createConsents()
  const create = () => createMcpServer({ options, inside, consents })
  const legacy = createLegacySessions(create)
  const modern = createMcpHandler(create, {
    legacy: "reject",
    onerror: (error) => Log.debug("an MCP request was refused", { error }),
  })

  async function answer(request: Request, parsedBody?: unknown): Promise<Response> {
    const isLegacy = parsedBody === undefined || (await isLegacyRequest(request, parsedBody))
    const response = isLegacy
      ? await legacy.fetch(request, parsedBody)
      : await modern.fetch(request, { parsedBody })
    const headers = new Headers(response.headers)
    for (const [name, value] of Object.entries(securityHeaders)) headers.set(name, value)
    return new Response(response.body, { status: response.status, headers })
  }

  const shared = { path: "/mcp", response: z.unknown(), contentType: "application/json" } as const
  const routes = [
    defineHttpRoute({
      ...shared,
      id: "callMcp",
      method: "POST",
      role: "member",
      summary: "The Model Context Protocol, streamable HTTP.",
      body: z.unknown(),
      respond: (c, { body }) => answer(c.req.raw, body),
    }),
    defineHttpRoute({
      ...shared,
      id: "followMcp",
      method: "GET",
      role: "member",
      summary: "Messages of the server to a client of revision 2025, outside of responses.",
      respond: (c) => answer(c.req.raw),
    }),
    defineHttpRoute({
      ...shared,
      id: "endMcpSession",
      method: "DELETE",
      role: "member",
      summary: "End the session of a client of revision 2025.",
      respond: (c) => answer(c.req.raw),
    }),
  ]
  return {
    routes,
    close: async () => {
      await Promise.all([legacy.close(), modern.close()])
    },
  }
}
