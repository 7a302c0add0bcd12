// Brings what words found and what vectors found into one order. How the numbers were chosen is told in docs/retrieval.md.
import type { Found } from "./index-store.ts"
import type { SearchOptions } from "./types.ts"

export type Fused = {
  row: number
  score: number
  text?: { rank: number; score: number }
  vector?: { rank: number; score: number }
}
export type Findings = {
  text: readonly Found[]
  vector: readonly Found[]
  /** How near any document is to the query, and to the nearest of its windows. */
  near(row: number): number
  nearWindow(row: number): number
  /** How many documents there are. */
  size: number
}

/** What a word that only one document has is worth, beside a cosine. */
const wordWeight = 0.14
const windowWeight = 0.5
/** How many of the best are looked at once more, window by window: as many as are asked for, within these. */
const reranked = { least: 20, most: 100 }
/** The usual constant of Reciprocal Rank Fusion. */
const rankOffset = 60

export function fuse(findings: Findings, { mode = "fused", limit = 10 }: SearchOptions): Fused[] {
  const found = merge(findings)
  if (mode === "rrf") for (const hit of found) hit.score = byRank(hit.text) + byRank(hit.vector)
  else if (mode === "vector") for (const hit of found) hit.score = hit.vector?.score ?? 0
  else if (!findings.vector.length) for (const hit of found) hit.score = hit.text?.score ?? 0
  else addScores(found, findings, limit)
  return found.sort(byScore).slice(0, limit)
}

function merge({ text, vector }: Findings): Fused[] {
  const hits = new Map<number, Fused>()
  for (const [at, { row, score }] of text.entries())
    hits.set(row, { row, score: 0, text: { rank: at + 1, score } })
  for (const [at, { row, score }] of vector.entries()) {
    const hit = hits.get(row) ?? { row, score: 0 }
    hits.set(row, Object.assign(hit, { vector: { rank: at + 1, score } }))
  }
  return [...hits.values()]
}

/** Scores, not ranks: a rank hides by how much one is better than the next. */
function addScores(found: Fused[], { near, nearWindow, size }: Findings, limit: number): void {
  const unit = rarest(size)
  for (const hit of found) {
    const cosine = hit.vector?.score ?? near(hit.row)
    hit.score = cosine + (wordWeight * (hit.text?.score ?? 0)) / unit
    // Stands for its windows until they have been looked at.
    hit.score += windowWeight * cosine
  }
  found.sort(byScore)
  const { least, most } = reranked
  for (const hit of found.slice(0, Math.min(most, Math.max(least, limit)))) {
    const cosine = hit.vector?.score ?? near(hit.row)
    hit.score += windowWeight * (nearWindow(hit.row) - cosine)
  }
}

/** bm25's weight of a word that one document of so many has; for one or two documents FTS5 has a floor. */
function rarest(size: number): number {
  return Math.max(1e-6, Math.log((size - 0.5) / 1.5))
}

function byRank(place: { rank: number } | undefined): number {
  return place ? 1 / (rankOffset + place.rank) : 0
}

function byScore(a: Fused, b: Fused): number {
  return b.score - a.score || a.row - b.row
}
