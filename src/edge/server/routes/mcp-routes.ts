// MCP servers over HTTP: how they stand, and starting and ending them.
import { z } from "zod"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { Status } from "#ability/mcp/server-status.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Offers } from "#edge/server/http/schemas.ts"

const Completion = z.object({
  prompt: z.string().optional(),
  resourceTemplate: z.string().optional().describe("in place of a prompt"),
  argument: z.string(),
  value: z.string().default("").describe("what of it is written already"),
  given: z.record(z.string(), z.string()).optional().describe("the arguments that are filled in"),
})
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
      id: "listMcpOffers",
      method: "GET",
      path: "/mcp/offer",
      summary:
        "What the MCP servers offer, as far as that is known: tools, resources, prompts. With `search` those that fit some words, the best first. Starts no server.",
      query: z.object({
        server: z.string().optional().describe("of one server only"),
        search: z.string().max(2_000).optional(),
      }),
      response: Offers,
      errors: [404],
      handle: async ({ query }) => (await import("#ability/mcp/find-offers.ts")).findOffers(query),
    }),
    defineRoute({
      id: "completeMcpArgument",
      method: "POST",
      path: "/mcp/:id/complete",
      summary:
        "What a server suggests for an argument of one of its prompts or resource templates. Starts the server; empty where it suggests nothing.",
      params,
      body: Completion,
      response: z.object({ values: z.array(z.string()) }),
      errors: [404],
      handle: async ({ params, body }) =>
        (await import("#ability/mcp/complete-argument.ts")).completeArgument(params.id, body),
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
