// The compact form of a models.dev catalog: one string per provider, one row per model, so that a provider's facts are
// found without reading those of the others. Takes the catalog as its server gives it, and the short form of it that
// the shipped list is made from.
import { z } from "zod"

const Model = z.object({
  name: z.string().optional(),
  context: z.number().optional(),
  output: z.number().optional(),
  limit: z.object({ context: z.number(), output: z.number() }).optional(),
  cost: z
    .object({
      input: z.number().optional(),
      output: z.number().optional(),
      cache_read: z.number().optional(),
      cache_write: z.number().optional(),
    })
    .optional(),
  tools: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  temperature: z.boolean().optional(),
  input: z.array(z.string()).optional(),
  modalities: z.object({ input: z.array(z.string()) }).optional(),
  status: z.string().optional(),
})
type Model = z.infer<typeof Model>

const Catalog = z.record(z.string(), z.object({ models: z.record(z.string(), z.unknown()) }))
const kinds = new Set(["text", "image", "pdf", "audio", "video"])

/** Rows by provider. A model whose facts cannot be read is left out; a catalog without any model is refused. */
export function catalogRows(catalog: unknown): Record<string, string> {
  const rows: Record<string, string> = {}
  for (const [provider, { models }] of Object.entries(Catalog.parse(catalog))) {
    const lines = Object.entries(models).flatMap(([id, model]) => rowOf(id, model) ?? [])
    if (lines.length) rows[provider] = lines.join("\n")
  }
  if (Object.keys(rows).length === 0) throw new Error("it has no model")
  return rows
}

/** The columns that `catalog.ts` reads: id, name, context, output, prices, features, kinds of input, status. */
function rowOf(id: string, value: unknown): string | undefined {
  const model = Model.safeParse(value).data
  const limits = model?.limit ?? model
  if (!model || limits?.context === undefined || limits.output === undefined) return undefined
  const { name = id, reasoning, temperature, status = "" } = model
  const features = [(model.tools ?? model.tool_call) && "t", reasoning && "r", temperature && "s"]
  const input = (model.input ?? model.modalities?.input ?? ["text"]).filter((kind) => kinds.has(kind))
  const columns = [
    id,
    name === id ? "" : name,
    limits.context,
    limits.output,
    pricesOf(model),
    features.filter(Boolean).join(""),
    input.map((kind) => kind[0]).join(""),
    status,
  ]
  if (columns.some((column) => /[|\n]/.test(String(column)))) return undefined
  return columns.join("|").replace(/\|+$/, "")
}

function pricesOf({ cost }: Model): string {
  if (!cost) return ""
  return [cost.input ?? 0, cost.output ?? 0, cost.cache_read, cost.cache_write].join(",").replace(/,+$/, "")
}
