// What is known of models: rows of `models.json`, one string per provider, taken apart only for the provider that is
// asked for. Parsing all 1 800 takes longer than a start may.
import rows from "./models.json" with { type: "json" }

type Input = "text" | "image" | "pdf" | "audio" | "video"

/** Limits in tokens, prices in USD per million tokens. */
export type ModelFacts = {
  provider: string
  id: string
  name: string
  context: number
  output: number
  cost?: { input: number; output: number; cacheRead?: number; cacheWrite?: number }
  tools: boolean
  reasoning: boolean
  temperature: boolean
  input: Input[]
  status?: string
}

const kinds: Record<string, Input> = { t: "text", i: "image", p: "pdf", a: "audio", v: "video" }
const all: Record<string, string> = rows

/** The ids of one provider's models. */
export function ids(provider: string): string[] {
  return rowsOf(provider).map((row) => row.slice(0, row.indexOf("|")))
}

/** The facts of one model. */
export function get(provider: string, id: string): ModelFacts | undefined {
  const row = rowsOf(provider).find((row) => row.startsWith(`${id}|`))
  return row === undefined ? undefined : parse(provider, row)
}

export function list(): ModelFacts[] {
  return Object.keys(all).flatMap((provider) => rowsOf(provider).map((row) => parse(provider, row)))
}

function rowsOf(provider: string): string[] {
  return Object.hasOwn(all, provider) ? all[provider]!.split("\n") : []
}

function parse(provider: string, row: string): ModelFacts {
  const [id, name, context, output, prices, features = "", input = "", status] = row.split("|")
  return {
    provider,
    id: id!,
    name: name || id!,
    context: Number(context),
    output: Number(output),
    ...(prices ? { cost: parsePrices(prices) } : {}),
    tools: features.includes("t"),
    reasoning: features.includes("r"),
    temperature: features.includes("s"),
    input: [...input].map((letter) => kinds[letter]!),
    ...(status ? { status } : {}),
  }
}

function parsePrices(prices: string): NonNullable<ModelFacts["cost"]> {
  const [input, output, cacheRead, cacheWrite] = prices.split(",")
  return {
    input: Number(input),
    output: Number(output),
    ...(cacheRead ? { cacheRead: Number(cacheRead) } : {}),
    ...(cacheWrite ? { cacheWrite: Number(cacheWrite) } : {}),
  }
}
