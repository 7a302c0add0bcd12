// The development sets of tool search, and how well a ranking does on one.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Document } from "#knowledge/index/types.ts"

export type Query = { query: string; gold: string[] }
export type Quality = { recall5: number; recall10: number; ndcg10: number; whole10: number }
type Tool = { id: string; name: string; description: string; parameters?: Record<string, string> }

export const sets = ["metatool", "sealtools"] as const

export function readTools(set: string): Document[] {
  return readLines<Tool>(`${set}.tools`).map(({ id, name, description, parameters = {} }) => ({
    id,
    group: "local",
    name,
    text: description,
    more: Object.entries(parameters).flat().join(" "),
  }))
}

export function readQueries(set: string): Query[] {
  return readLines<Query>(`${set}.queries`)
}

/** In percent, over all queries; the rankings are ids, the best first. */
export function judge(queries: readonly Query[], rankings: readonly string[][]): Quality {
  const all = queries.map(({ gold }, at) => judgeOne(new Set(gold), rankings[at]!))
  const mean = (key: keyof Quality) => (100 * all.reduce((sum, one) => sum + one[key], 0)) / all.length
  return {
    recall5: mean("recall5"),
    recall10: mean("recall10"),
    ndcg10: mean("ndcg10"),
    whole10: mean("whole10"),
  }
}

function judgeOne(gold: Set<string>, ranking: string[]): Quality {
  const right = ranking.slice(0, 10).map((id) => gold.has(id))
  const count = (upTo: number) => right.slice(0, upTo).filter(Boolean).length
  const gain = (places: boolean[]) =>
    places.reduce((sum, is, at) => sum + (is ? 1 / Math.log2(at + 2) : 0), 0)
  const ideal = gain(Array.from({ length: Math.min(10, gold.size) }, () => true))
  return {
    recall5: count(5) / gold.size,
    recall10: count(10) / gold.size,
    ndcg10: gain(right) / ideal,
    whole10: count(10) === gold.size ? 1 : 0,
  }
}

/** The lines of a file in `data/retrieval`. */
export function readLines<T>(name: string): T[] {
  const text = readFileSync(join(import.meta.dirname, "data/retrieval", `${name}.jsonl`), "utf8")
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
}
