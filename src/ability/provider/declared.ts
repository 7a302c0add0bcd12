// Models that the configuration declares under `provider.<id>.models`: facts that differ from the defaults, and the wire
// form where a server speaks another one than its provider.
import { z } from "zod"
import * as Catalog from "./catalog.ts"
import type { Settings } from "./connection.ts"
import { Unusable } from "./errors.ts"

const price = z.number().nonnegative()
const Declared = z.looseObject({
  name: z.string().optional(),
  context: z.number().int().positive().optional(),
  output: z.number().int().positive().optional(),
  cost: z
    .object({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
    .optional(),
  tools: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  temperature: z.boolean().optional(),
  input: z.array(z.enum(["text", "image", "pdf", "audio", "video"])).optional(),
  api: z.enum(["chat", "responses", "messages", "gemini"]).optional(),
  gpu: z.literal(["auto", false]).optional().describe("of a GGUF file that runs here"),
})
export type Declared = z.infer<typeof Declared>

/** What the configuration says about a model, if it names it. */
export function declaredModel(options: {
  providerId: string
  modelId: string
  settings: Settings
}): Declared | undefined {
  const { providerId, modelId, settings } = options
  const models = settings.models ?? {}
  if (!Object.hasOwn(models, modelId)) return undefined
  const parsed = Declared.safeParse(models[modelId])
  if (parsed.success) return parsed.data
  const where = `provider.${providerId}.models[${JSON.stringify(modelId)}]`
  throw new Unusable(providerId, `${where} is not right: ${z.prettifyError(parsed.error)}`)
}

/** The facts of a model: declared ones over known ones over defaults that suit most servers. */
export function factsOf(options: {
  providerId: string
  modelId: string
  declared?: Declared
}): Catalog.ModelFacts {
  const { providerId, modelId, declared } = options
  return {
    ...(Catalog.get(providerId, modelId) ?? defaults(providerId, modelId)),
    ...definedFacts(declared ?? {}),
  }
}

function defaults(provider: string, id: string): Catalog.ModelFacts {
  return {
    provider,
    id,
    name: id,
    context: 128_000,
    output: 0,
    tools: true,
    reasoning: false,
    temperature: true,
    input: ["text"],
  }
}

/** What the configuration says of a model's facts. */
export function definedFacts(own: Declared): Partial<Catalog.ModelFacts> {
  const known = ["name", "context", "output", "cost", "tools", "reasoning", "temperature", "input"]
  return Object.fromEntries(known.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]])))
}
