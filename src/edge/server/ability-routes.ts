// What there is to work with, over HTTP: providers with their models, and tools.
import { z } from "zod"
import * as Provider from "#ability/provider/provider.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { zodToToolSchema } from "#ability/tool/zod-to-tool-schema.ts"
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
      handle: () => ToolRegistry.list().map(describe),
    }),
    defineRoute({
      method: "GET",
      path: "/tool/:id",
      summary: "One tool.",
      params: z.object({ id: z.string() }),
      response: Tool,
      handle: ({ params }) => describe(ToolRegistry.get(params.id)),
    }),
  ]
}

function describe({ id, category, description, readOnly, parameters }: ReturnType<typeof ToolRegistry.get>) {
  return { id, category, description, readOnly, parameters: zodToToolSchema(parameters) }
}
