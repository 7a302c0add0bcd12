// The catalog of models: rows of `models.json`, one string per provider, parsed only for the requested provider.
// Parsing all 1 800 would slow down the start. A list that a person fetched replaces the shipped one, provider by
// provider.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import shipped from "./models.json" with { type: "json" }

type Input = "text" | "image" | "pdf" | "audio" | "video"

/** Limits in tokens, prices in USD per million tokens. */
export type ModelFacts = {
  provider: string
  id: string
  name: string
  context: number
  /** 0 if unknown. */
  output: number
  cost?: { input: number; output: number; cacheRead?: number; cacheWrite?: number }
  tools: boolean
  reasoning: boolean
  temperature: boolean
  input: Input[]
  status?: string
}

/** The model `local/rules`, which is in no list. */
export const offlineModel: ModelFacts = {
  provider: "local",
  id: "rules",
  name: "Built-in offline rules",
  context: 1_000_000,
  output: 100_000,
  cost: { input: 0, output: 0 },
  tools: true,
  reasoning: false,
  temperature: false,
  input: ["text"],
}

const kinds: Record<string, Input> = { t: "text", i: "image", p: "pdf", a: "audio", v: "video" }
let known: { file: string; rows: Record<string, string> } | undefined

/** Where a fetched list is kept. */
export function refreshedFile(): string {
  return join(Global.cache(), "models.json")
}

/** Makes the next call read the stored list again. */
export function forget(): void {
  known = undefined
}

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
  return Object.keys(all()).flatMap((provider) => rowsOf(provider).map((row) => parse(provider, row)))
}

function rowsOf(provider: string): string[] {
  const rows = all()
  return Object.hasOwn(rows, provider) ? rows[provider]!.split("\n") : []
}

function all(): Record<string, string> {
  const file = refreshedFile()
  if (known?.file !== file) known = { file, rows: { ...shipped, ...readRefreshed(file) } }
  return known.rows
}

function readRefreshed(file: string): Record<string, string> {
  try {
    const rows: unknown = JSON.parse(readFileSync(file, "utf8"))
    if (Object.values(rows as object).every((text) => typeof text === "string"))
      return rows as Record<string, string>
    throw new Error("it has another form")
  } catch (error) {
    if (errorCode(error) !== "ENOENT")
      Log.warn("the fetched list of models cannot be read; the shipped one is used", {
        file,
        error: errorText(error),
      })
    return {}
  }
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
