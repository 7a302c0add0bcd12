// Fuses the hits by words and the hits by vectors into one order. docs/retrieval.md says how the numbers were chosen.
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
  /** The cosine of a document with the query, and with the nearest window of the query. */
  near(row: number): number
  nearWindow(row: number): number
  /** How many documents there are. */
  size: number
}

/** The weight of a word that only one document has, against a cosine. */
const wordWeight = 0.14
const windowWeight = 0.5
/** How many of the best hits are reranked by windows: as many as are wanted, within these bounds. */
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

/** Scores, not ranks: a rank does not say how much better one hit is than the next. */
function addScores(found: Fused[], { near, nearWindow, size }: Findings, limit: number): void {
  const unit = rarest(size)
  for (const hit of found) {
    const cosine = hit.vector?.score ?? near(hit.row)
    hit.score = cosine + (wordWeight * (hit.text?.score ?? 0)) / unit
    // A placeholder for the score of the windows, which only the best hits get below.
    hit.score += windowWeight * cosine
  }
  found.sort(byScore)
  const { least, most } = reranked
  for (const hit of found.slice(0, Math.min(most, Math.max(least, limit)))) {
    const cosine = hit.vector?.score ?? near(hit.row)
    hit.score += windowWeight * (nearWindow(hit.row) - cosine)
  }
}

/** The bm25 weight of a word that one document of `size` has. FTS5 has a floor for one or two documents. */
function rarest(size: number): number {
  return Math.max(1e-6, Math.log((size - 0.5) / 1.5))
}

function byRank(place: { rank: number } | undefined): number {
  return place ? 1 / (rankOffset + place.rank) : 0
}

function byScore(a: Fused, b: Fused): number {
  return b.score - a.score || a.row - b.row
}
