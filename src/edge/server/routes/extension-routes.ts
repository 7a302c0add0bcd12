// Route for what extends a folder beside skills and MCP servers: hooks, plugins and language servers.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Entry } from "#kernel/plugin/plugins.ts"
import { hookEvents } from "#kernel/schema/schema.ts"

const Extensions = z.object({
  hooks: z
    .array(
      z.object({
        event: z.enum(hookEvents),
        matcher: z.string().describe("names of tools, or an expression; empty: all"),
        name: z.string(),
        type: z.enum(["command", "mcp_tool", "function"]),
        source: z.string().describe("the file that defines it"),
      }),
    )
    .describe("the hooks that are in force"),
  unusedHooks: z
    .array(z.string())
    .describe("hooks that are not used, and why, such as a file nobody has reviewed"),
  plugins: z.array(
    Entry.pick({ name: true, version: true, description: true, parts: true }).extend({
      address: z.string().describe("where it came from"),
      isIntact: z.boolean().describe("its files are as they were installed; otherwise they are not used"),
    }),
  ),
  languageServers: z.array(
    z.object({
      id: z.string(),
      from: z.enum(["settings", "plugin", "installed"]),
      endings: z.array(z.string()),
      command: z.string(),
      state: z.enum(["running", "failed", "not started", "turned off"]),
      reason: z.string().optional().describe("why it failed"),
    }),
  ),
})

export function extensionRoutes(): Route[] {
  return [
    defineRoute({
      id: "listExtensions",
      method: "GET",
      role: "member",
      path: "/extension",
      summary:
        "The hooks, plugins and language servers of the folder, where each comes from, and its state. Starts none.",
      response: Extensions,
      async handle() {
        const [{ loadHooks }, { installedTree }, { readLock }, { listServers }] = await Promise.all([
          import("#ability/hook/load-hooks.ts"),
          import("#ability/plugin/install.ts"),
          import("#kernel/plugin/plugins.ts"),
          import("#ability/lsp/list-servers.ts"),
        ])
        const { hooks, unused } = await loadHooks({ isQuiet: true })
        return {
          hooks: hooks.map(({ event, matcher, name, source, work: { type } }) => ({
            ...{ event, matcher, name, source, type },
          })),
          unusedHooks: [...unused],
          plugins: readLock().map((entry) => {
            const { name, version, description, parts, source } = entry
            const isIntact = installedTree(entry) !== undefined
            return { name, version, description, parts, address: source.address, isIntact }
          }),
          languageServers: await listServers(),
        }
      },
    }),
  ]
}
