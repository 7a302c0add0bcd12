// What there is to work with, over HTTP: providers with their models, and tools, those of MCP servers as they are known.
import { z } from "zod"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Provider from "#ability/provider/provider.ts"
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
      summary: "The tools of the project.",
      response: z.array(Tool),
      async handle() {
        await (await ifConfigured())?.list()
        return ToolRegistry.list().map(describe)
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

function describe(tool: ReturnType<typeof ToolRegistry.get>) {
  const { id, category, description, readOnly, server } = tool
  const parameters = ToolRegistry.schemaOf(tool)
  return { id, category, description, readOnly, ...(server === undefined ? {} : { server }), parameters }
}
