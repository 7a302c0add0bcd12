// Makes the compact list of models that ships with vitamin out of a models.dev catalog:
//   node script/models.ts ../shared/data/models.json
// One string per provider, one row per model, so that a provider's facts are found without reading those of the others.
import { readFileSync, writeFileSync } from "node:fs"

type Model = {
  name: string
  context: number
  output: number
  cost?: { input?: number; output?: number; cache_read?: number; cache_write?: number }
  tools: boolean
  reasoning: boolean
  temperature?: boolean
  input: string[]
  status?: string
}
type Catalog = Record<string, { models: Record<string, Model> }>

const target = new URL("../src/ability/provider/models.json", import.meta.url)

const [, , source] = process.argv
if (!source) throw new Error("say which catalog to read: node script/models.ts path/to/models.json")
const catalog = JSON.parse(readFileSync(source, "utf8")) as Catalog
const lines = Object.entries(catalog).map(
  ([id, { models }]) =>
    `  ${JSON.stringify(id)}: ${JSON.stringify(Object.entries(models).map(rowOf).join("\n"))}`,
)
writeFileSync(target, `{\n${lines.join(",\n")}\n}\n`)

/** The columns that `catalog.ts` reads: id, name, context, output, prices, features, kinds of input, status. */
function rowOf([id, model]: [string, Model]): string {
  const { cost } = model
  const prices = cost ? [cost.input ?? 0, cost.output ?? 0, cost.cache_read, cost.cache_write].join(",") : ""
  const features = [model.tools && "t", model.reasoning && "r", model.temperature && "s"].filter(Boolean)
  const columns = [
    id,
    model.name === id ? "" : model.name,
    model.context,
    model.output,
    prices.replace(/,+$/, ""),
    features.join(""),
    model.input.map((kind) => kind[0]).join(""),
    model.status ?? "",
  ]
  if (columns.some((column) => /[|\n]/.test(String(column))))
    throw new Error(`a column of ${id} has a separator in it`)
  return columns.join("|").replace(/\|+$/, "")
}
