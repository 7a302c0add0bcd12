// Finds passages by words and by meaning. Vectors of parts, made with the index, say which parts are near to a question; the
// passages of these and those with its words are then compared one by one.
import * as Log from "#kernel/process/log.ts"
import { toUnit } from "#knowledge/embedder/embedded-model.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createVectors, type Vectors } from "#knowledge/embedder/vectors.ts"
import { fuse } from "#knowledge/index/fuse.ts"
import type { Found } from "#knowledge/index/index-store.ts"
import type { Document } from "#knowledge/index/types.ts"
import { decode, encode } from "#knowledge/index/vector-table.ts"
import { createWeigher, type Question } from "#knowledge/index/weigh.ts"
import { errorText } from "#util/error.ts"
import type { NewFile, NewPart, NewPassage, PassageStore } from "./passage-store.ts"

type Part = { first: number; last: number }

const passagesPerPart = 8
/** Characters of each passage that the vector of its part is made of. */
const partChars = 32
/** How many passages with words of the question, and how many near parts, are compared. */
const depth = { words: 24, parts: 8 }
const maxKept = 5_000
/** What all passages have in common says nothing about one: this share of their mean is subtracted. The mean of a few parts
 * says little about the others, so it counts in full only if there are many more than `fewParts`. */
const meanShare = 0.7
const fewParts = 20

export function createNearness(store: PassageStore, embedder: Embedder | undefined) {
  const weigher = embedder && createWeigher(embedder)
  /** Vectors of passages that were compared. */
  const kept = new Map<number, Float32Array>()
  let vectors: Vectors | undefined
  let parts: Part[] = []
  /** The share of the mean of all parts that is subtracted. */
  let common: Float32Array | undefined
  let version = -1

  /** Call when passages have changed. */
  function reset(): void {
    vectors = undefined
    kept.clear()
  }

  async function withParts(files: readonly Omit<NewFile, "parts">[]): Promise<NewFile[]> {
    const all = files.map((file) => ({ ...file, parts: partsOf(file.passages) }))
    const flat = all.flatMap(({ passages, parts: of }) => of.map((part) => ({ part, passages })))
    try {
      const made = await weigher?.documents(flat.map(({ part, passages }) => asDocument(part, passages)))
      for (const [i, { part }] of flat.entries()) part.vector = made?.[i] && encode(made[i])
    } catch (error) {
      warn(error)
    }
    return all
  }

  async function search(query: string, limit: number): Promise<Found[]> {
    const text = store.findWords(query, Math.max(depth.words, limit))
    const question = await ask(query)
    if (!question)
      return fuse({ text, vector: [], near: none, nearWindow: none, size: store.size() }, { limit })
    const cosines = await compare(question, text)
    const vector = [...cosines]
      .map(([row, { cosine }]) => ({ row, score: cosine }))
      .sort((a, b) => b.score - a.score)
    return fuse(
      {
        text,
        vector,
        near: (row) => cosines.get(row)?.cosine ?? 0,
        nearWindow: (row) => cosines.get(row)?.window() ?? 0,
        size: store.size(),
      },
      { limit },
    )
  }

  async function ask(query: string): Promise<Question | undefined> {
    try {
      return await weigher?.question(query)
    } catch (error) {
      warn(error)
      return undefined
    }
  }

  /** The cosines of all passages that may fit. An embedder that cannot embed at once gives those of their parts. */
  async function compare(question: Question, text: readonly Found[]) {
    load()
    const vector = centred(question.vector)
    const near = nearParts(vector)
    const rows = new Map(text.map(({ row }) => [row, 0]))
    for (const { part, score } of near)
      for (let row = part.first; row <= part.last; row++) rows.set(row, score)
    const cosines = new Map<number, { cosine: number; window(): number }>()
    if (!embedder?.pieces) {
      for (const [row, score] of rows) cosines.set(row, { cosine: score, window: () => score })
      return cosines
    }
    const all = question.windows().map(centred)
    await embedRows([...rows.keys()])
    for (const row of rows.keys()) {
      const own = kept.get(row)
      if (!own) continue
      const cosine = dot(own, vector)
      const window = () => (all.length ? Math.max(...all.map((one) => dot(own, one))) : cosine)
      cosines.set(row, { cosine, window })
    }
    return cosines
  }

  async function embedRows(rows: number[]): Promise<void> {
    if (kept.size > maxKept) kept.clear()
    const missing = rows.filter((row) => !kept.has(row)).flatMap((row) => store.get(row) ?? [])
    const made = await weigher?.documents(
      missing.map(({ name, text }) => ({ id: "", group: "", name, text })),
    )
    for (const [i, { row }] of missing.entries()) if (made?.[i]) kept.set(row, centred(made[i]))
  }

  function nearParts(question: Float32Array): { part: Part; score: number }[] {
    const scores = load().scores(question)
    return [...scores.keys()]
      .filter((slot) => scores[slot]! > 0)
      .sort((a, b) => scores[b]! - scores[a]!)
      .slice(0, depth.parts)
      .map((slot) => ({ part: parts[slot]!, score: scores[slot]! }))
  }

  function load(): Vectors {
    const now = store.version()
    if (vectors && now === version) return vectors
    version = now
    kept.clear()
    vectors = createVectors(embedder!.dimensions)
    const stored = store.parts()
    parts = stored
    const decoded = stored.map(({ vector }) => decode(vector))
    common = embedder!.pieces && meanOf(decoded, embedder!.dimensions)
    for (const [slot, vector] of decoded.entries()) if (vector) vectors.put(slot, centred(vector))
    return vectors
  }

  /** The zero vector stays as it is. */
  function centred(vector: Float32Array): Float32Array {
    if (!common || vector.every((value) => value === 0)) return vector
    return toUnit(vector.map((value, at) => value - common![at]!))
  }

  return Object.freeze({ reset, withParts, search })
}

function partsOf(passages: readonly NewPassage[]): NewPart[] {
  const parts: NewPart[] = []
  for (let at = 0; at < passages.length; at += passagesPerPart)
    parts.push({ at, count: Math.min(passagesPerPart, passages.length - at), vector: undefined })
  return parts
}

function asDocument({ at, count }: NewPart, passages: readonly NewPassage[]): Document {
  const of = passages.slice(at, at + count)
  const last = (name: string) => name.slice(name.lastIndexOf(" > ") + 1)
  const text = of.map((passage) => `${last(passage.name)} ${passage.text.slice(0, partChars)}`).join(" ")
  const [title = ""] = of[0]?.name.split(" > ") ?? []
  return { id: "", group: "", name: title, text }
}

/** The share of the mean that is subtracted from each vector. */
function meanOf(vectors: readonly (Float32Array | undefined)[], dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions)
  const factor = meanShare / (vectors.length + fewParts)
  for (const vector of vectors)
    for (let at = 0; at < dimensions; at++) mean[at]! += factor * (vector?.[at] ?? 0)
  return mean
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}

function none(): number {
  return 0
}

function warn(error: unknown): void {
  Log.warn("documents are searched by words only", { reason: errorText(error) })
}
