// What there is to work with, over HTTP: providers with their models, and tools, those of MCP servers as they are known.
import { z } from "zod"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Provider from "#ability/provider/provider.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { defineRoute, type Route } from "./route.ts"

const Model = z.looseObject({ id: z.string(), name: z.string(), context: z.number(), output: z.number() })
const ProviderInfo = z.object({
  id: z.string(),
  name: z.string(),
  hasKey: z.boolean().describe("a key is configured, in the environment, or was kept by a login"),
  models: z.array(Model),
})
const Tool = z.object({
  id: z.string(),
  category: z.string(),
  description: z.string(),
  readOnly: z.boolean(),
  server: z.string().optional().describe("the MCP server that it comes from"),
  parameters: z.record(z.string(), z.unknown()).describe("JSON Schema"),
  score: z.number().optional().describe("of a search: how well it fits, more is better"),
})

export function abilityRoutes(): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/provider",
      summary: "Providers and their models, with context, price and abilities.",
      response: z.array(ProviderInfo),
      async handle() {
        await Provider.load()
        const models = Map.groupBy(Provider.models(), (model) => model.provider)
        return Promise.all(
          Provider.list().map(async ({ id, name }) => ({
            id,
            name,
            hasKey: (await Provider.auth(id)).source !== "none",
            models: (models.get(id) ?? []).map((model) => ({ ...model })),
          })),
        )
      },
    }),
    defineRoute({
      method: "GET",
      path: "/tool",
      summary: "The tools of the project; with `search` those that fit some words, the best first.",
      query: z.object({ search: z.string().max(2_000).optional() }),
      response: z.array(Tool),
      async handle({ query }) {
        await (await ifConfigured())?.list()
        const tools = ToolRegistry.list()
        return query.search === undefined ? tools.map(describe) : search(query.search, tools)
      },
    }),
    defineRoute({
      method: "GET",
      path: "/tool/:id",
      summary: "One tool.",
      params: z.object({ id: z.string() }),
      response: Tool,
      async handle({ params }) {
        await (await ifConfigured())?.list()
        return describe(ToolRegistry.get(params.id))
      },
    }),
  ]
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
