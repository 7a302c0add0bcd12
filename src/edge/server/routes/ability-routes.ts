// Routes for providers with their models, and for tools. Tools of MCP servers are listed from their last known manifests.
import { z } from "zod"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Provider from "#ability/provider/provider.ts"
import { offerScripts } from "#ability/script/script-tool.ts"
import type { Definition } from "#ability/tool/tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { ProviderInfo, Tool } from "#edge/server/http/schemas.ts"

export function abilityRoutes(): Route[] {
  return [
    defineRoute({
      id: "listProviders",
      method: "GET",
      role: "reader",
      path: "/provider",
      summary: "Providers and their models, with context, price and abilities.",
      response: z.array(ProviderInfo),
      async handle() {
        await Provider.load()
        const models = Map.groupBy(Provider.models(), (model) => model.provider)
        return Promise.all(
          Provider.list().map(async ({ id, name, canSignIn }) => ({
            id,
            name,
            hasKey: (await Provider.auth(id)).source !== "none",
            canSignIn,
            models: (models.get(id) ?? []).map((model) => ({ ...model })),
          })),
        )
      },
    }),
    defineRoute({
      id: "listTools",
      method: "GET",
      role: "reader",
      path: "/tool",
      summary: "The tools of the project; with `search` the matching ones, the best first.",
      query: z.object({ search: z.string().max(2_000).optional() }),
      response: z.array(Tool),
      async handle({ query }) {
        await loadTools()
        const tools = ToolRegistry.list()
        return query.search === undefined ? tools.map(describe) : search(query.search, tools)
      },
    }),
    defineRoute({
      id: "getTool",
      method: "GET",
      role: "reader",
      path: "/tool/:id",
      summary: "One tool.",
      params: z.object({ id: z.string() }),
      response: Tool,
      errors: [404],
      async handle({ params }) {
        await loadTools()
        return describe(ToolRegistry.get(params.id))
      },
    }),
  ]
}

/** Also those of specialists and of MCP servers. */
async function loadTools(): Promise<void> {
  await Promise.all([loadToolGroups(), offerScripts(), (await ifConfigured())?.list()])
}

async function search(words: string, tools: Definition[]) {
  const { searchTools } = await import("#ability/mcp/search-tools.ts")
  return (await searchTools(words, { tools })).map(({ tool, score }) => ({ ...describe(tool), score }))
}

function describe(tool: ReturnType<typeof ToolRegistry.get>) {
  const { id, category, description, readOnly, server } = tool
  const parameters = ToolRegistry.schemaOf(tool)
  return { id, category, description, readOnly, ...(server === undefined ? {} : { server }), parameters }
}
