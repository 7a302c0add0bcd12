// MCP servers over HTTP: how they stand, and starting and ending them.
import { z } from "zod"
import { Status } from "#ability/mcp/changed.ts"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { defineRoute, type Route } from "./route.ts"

const params = z.object({ id: z.string() })

export function mcpRoutes(): Route[] {
  return [
    defineRoute({
      id: "listMcpServers",
      method: "GET",
      path: "/mcp",
      summary: "The MCP servers of the project, and how they stand. Starts none.",
      response: z.array(Status),
      handle: async () => (await ifConfigured())?.list() ?? [],
    }),
    defineRoute({
      id: "connectMcpServer",
      method: "POST",
      path: "/mcp/:id/connect",
      summary: "Start a server, or reach it. That it failed is in its state.",
      params,
      response: Status,
      errors: [404],
      handle: async ({ params }) => (await import("#ability/mcp/mcp.ts")).connect(params.id),
    }),
    defineRoute({
      id: "disconnectMcpServer",
      method: "POST",
      path: "/mcp/:id/disconnect",
      summary: "End a server. Its tools are gone until it is connected again.",
      params,
      response: Status,
      errors: [404],
      handle: async ({ params }) => (await import("#ability/mcp/mcp.ts")).disconnect(params.id),
    }),
  ]
}
