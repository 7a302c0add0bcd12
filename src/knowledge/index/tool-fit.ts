// Chooses which of the tools that were found are offered with a first request. docs/retrieval.md says how the numbers were
// chosen.
import type { Why } from "./create-item-index.ts"

type Found<T> = { tool: T; score: number } & Why

/** The least fused scores: `enough` for a tool to be offered. If the best tool reaches `sure`, the request is surely
 * about tools, and the others need only `beside`. */
const enough = 0.7
const sure = 0.9
const beside = 0.5
const maxParts = 6
const leastWords = 3

/** The whole request, then its parts. */
export function partsOf(intent: string): string[] {
  const parts = intent.split(/[.!?;:,]\s+|\n+|\b(?:and )?then\b/).map((part) => part.trim())
  const long = parts.filter((part) => part.split(/\s+/).length >= leastWords)
  return long.length > 1 ? [intent, ...long.slice(0, maxParts)] : [intent]
}

/** The tools to offer, from the hits of each part: first the best tool of every part, so that many of one kind do not
 * crowd out the others, then all by their highest score. */
export function takeNear<T>(found: readonly (readonly Found<T>[])[]): T[] {
  const best = new Map<T, Found<T>>()
  for (const one of found.flat()) if (one.score > (best.get(one.tool)?.score ?? -1)) best.set(one.tool, one)
  const all = near([...best.values()].sort((a, b) => b.score - a.score))
  const firsts = found.slice(1).flatMap((list) => near(list).slice(0, 1))
  return [...new Set([...firsts, ...all].map(({ tool }) => tool))]
}

/** Without vectors, scores are on another scale, and all hits stay. */
function near<T>(found: readonly Found<T>[]): readonly Found<T>[] {
  if (!found.some(({ vector }) => vector)) return found
  const least = found[0]!.score >= sure ? beside : enough
  return found.filter(({ score }) => score >= least)
}
