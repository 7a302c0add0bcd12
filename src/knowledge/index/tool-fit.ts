// Which of the tools that were found are offered with a first request. How the numbers were chosen is told in
// docs/retrieval.md.
import type { Why } from "./create-item-index.ts"

type Found<T> = { tool: T; score: number } & Why

/** Fused scores: of a tool that is offered by itself; of the best one, if the request is surely about tools; and of the
 * others that are offered beside it then. */
const enough = 0.7
const sure = 0.9
const beside = 0.5
const maxWishes = 6
const leastWords = 3

/** The whole request, then what it asks for one after the other, each by itself. */
export function wishesOf(intent: string): string[] {
  const parts = intent.split(/[.!?;:,]\s+|\n+|\b(?:and )?then\b/).map((part) => part.trim())
  const wishes = parts.filter((part) => part.split(/\s+/).length >= leastWords)
  return wishes.length > 1 ? [intent, ...wishes.slice(0, maxWishes)] : [intent]
}

/** Of what was found for each of these, the best first: the best tool of every wish, so that many of one kind do not crowd
 * out the others, then all by their highest score. */
export function takeNear<T>(found: readonly (readonly Found<T>[])[]): T[] {
  const best = new Map<T, Found<T>>()
  for (const one of found.flat()) if (one.score > (best.get(one.tool)?.score ?? -1)) best.set(one.tool, one)
  const all = near([...best.values()].sort((a, b) => b.score - a.score))
  const firsts = found.slice(1).flatMap((list) => near(list).slice(0, 1))
  return [...new Set([...firsts, ...all].map(({ tool }) => tool))]
}

/** Where nothing has a vector, scores are on another scale, and all stay. */
function near<T>(found: readonly Found<T>[]): readonly Found<T>[] {
  if (!found.some(({ vector }) => vector)) return found
  const least = found[0]!.score >= sure ? beside : enough
  return found.filter(({ score }) => score >= least)
}
