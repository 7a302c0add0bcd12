// Routes for MCP servers: their state and offers; connecting them, disconnecting them, and signing in to them.
import { z } from "zod"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { ServerLogin, Status } from "#ability/mcp/server-status.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Offers } from "#edge/server/http/schemas.ts"
import { LoginStarted } from "#kernel/login/create-logins.ts"

const Completion = z.object({
  prompt: z.string().optional(),
  resourceTemplate: z.string().optional().describe("instead of a prompt"),
  argument: z.string(),
  value: z.string().default("").describe("what the person has typed so far"),
  given: z
    .record(z.string(), z.string())
    .optional()
    .describe("the other arguments that are already filled in"),
})
const params = z.object({ id: z.string() })

export function mcpRoutes(): Route[] {
  return [
    defineRoute({
      id: "listMcpServers",
      method: "GET",
      role: "reader",
      path: "/mcp",
      summary: "The MCP servers of the project and their state. Starts no server.",
      response: z.array(Status),
      handle: async () => (await ifConfigured())?.list() ?? [],
    }),
    defineRoute({
      id: "listMcpOffers",
      method: "GET",
      role: "reader",
      path: "/mcp/offer",
      summary:
        "The known tools, resources and prompts of the MCP servers. With `search` the matching ones, the best first. Starts no server.",
      query: z.object({
        server: z.string().optional().describe("only of this server"),
        search: z.string().max(2_000).optional(),
      }),
      response: Offers,
      errors: [404],
      handle: async ({ query }) => (await import("#ability/mcp/find-offers.ts")).findOffers(query),
    }),
    defineRoute({
      id: "completeMcpArgument",
      method: "POST",
      role: "member",
      path: "/mcp/:id/complete",
      summary:
        "A server's suggestions for an argument of one of its prompts or resource templates. Starts the server; empty if there are none.",
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
      role: "admin",
      path: "/mcp/:id/connect",
      summary: "Connect a server, and start it if it is local. A failure is reported in its state.",
      params,
      response: Status,
      errors: [404],
      handle: async ({ params }) => (await import("#ability/mcp/mcp.ts")).connect(params.id),
    }),
    defineRoute({
      id: "disconnectMcpServer",
      method: "POST",
      role: "admin",
      path: "/mcp/:id/disconnect",
      summary: "Disconnect a server. Its tools are unavailable until it is connected again.",
      params,
      response: Status,
      errors: [404],
      handle: async ({ params }) => (await import("#ability/mcp/mcp.ts")).disconnect(params.id),
    }),
    defineRoute({
      id: "startMcpLogin",
      method: "POST",
      role: "admin",
      path: "/mcp/:id/login",
      summary:
        "Begin to sign in to a server (OAuth). The person opens the address in a browser on the machine of this server, which receives the redirect. Replaces a login that still waits.",
      params,
      response: LoginStarted,
      errors: [404],
      handle: async ({ params }) => (await import("#ability/mcp/logins.ts")).start(params.id),
    }),
    defineRoute({
      id: "waitForMcpLogin",
      method: "GET",
      role: "admin",
      path: "/mcp/:id/login",
      summary:
        "Wait for the login that was begun last. After 20 seconds the state is `waiting`: then ask again. After a login the server is connected.",
      params,
      response: ServerLogin,
      errors: [404],
      handle: async ({ params }) => (await import("#ability/mcp/logins.ts")).wait(params.id),
    }),
    defineRoute({
      id: "cancelMcpLogin",
      method: "DELETE",
      role: "admin",
      path: "/mcp/:id/login",
      summary: "Stop a login that waits. `cancelled` is false if none does.",
      params,
      response: z.object({ cancelled: z.boolean() }),
      errors: [404],
      async handle({ params }) {
        const { cancel } = await import("#ability/mcp/logins.ts")
        return { cancelled: await cancel(params.id) }
      },
    }),
  ]
}
