// The vectors of an index in memory, read from its file when a search first needs them.
import { createVectors, type Vectors } from "#knowledge/embedder/vectors.ts"
import type { Found, Store } from "./index-store.ts"
import type { Question } from "./weigh.ts"

type Wanted = {
  limit: number
  group?: string | undefined
  store: Store
  /** Maps a cosine to the scale of the embedded model. */
  scale?: ((cosine: number) => number) | undefined
}
export type Nearness = { top: Found[]; of(row: number): number; ofWindow(row: number): number }

export function createVectorTable(dimensions: number) {
  let vectors: Vectors | undefined
  /** Where the vectors were read from. They are read again after another process has changed them. */
  let source: Store | undefined
  let generation = 0
  /** The windows of one query. Reused, because creating a table costs more than using it. */
  let asked: Vectors | undefined

  function load(store: Store): Vectors {
    if (vectors && source === store && generation === store.generation()) return vectors
    vectors = createVectors(dimensions)
    source = store
    generation = store.generation()
    for (const [row, data] of store.readVectors()) place(vectors, row, data)
    return vectors
  }

  /** Has an effect only after the vectors were read. */
  function put(row: number, data: Uint8Array | undefined): void {
    if (vectors) place(vectors, row, data)
  }

  function place(into: Vectors, row: number, data: Uint8Array | undefined): void {
    const vector = data && decode(data)
    if (vector?.length === dimensions) into.put(row, vector)
    else into.remove(row)
  }

  function compare({ vector, windows }: Question, { limit, group, store, scale }: Wanted): Nearness {
    const table = load(store)
    const scores = scale ? table.scores(vector).map(scale) : table.scores(vector)
    const of = (row: number) => scores[row] ?? 0
    const belongs = (row: number) => group === undefined || store.byRow[row]?.group === group
    let count: number | undefined

    function ofWindow(row: number): number {
      asked ??= createVectors(dimensions)
      count ??= putAll(asked, windows())
      if (!count) return of(row)
      return Math.max(...asked.scores(table.get(row)).subarray(0, count))
    }

    return { top: best(scores, limit, belongs), of, ofWindow }
  }

  return { put, compare, remove: (row: number) => vectors?.remove(row) }
}

function putAll(into: Vectors, vectors: Float32Array[]): number {
  for (const [slot, vector] of vectors.entries()) into.put(slot, vector)
  return vectors.length
}

/** The rows with a positive score, the nearest first. */
function best(scores: Float32Array, limit: number, belongs: (row: number) => boolean): Found[] {
  let found: Found[] = []
  let least = 0
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row]!
    if (score <= least || !belongs(row)) continue
    found.push({ row, score })
    if (found.length < 2 * limit) continue
    found = cut(found, limit)
    least = found.at(-1)!.score
  }
  return cut(found, limit)
}

function cut(found: Found[], limit: number): Found[] {
  return found.sort((a, b) => b.score - a.score || a.row - b.row).slice(0, limit)
}

/** The form in the file: a scale, then a byte for each number. The zero vector has no bytes. */
export function encode(vector: Float32Array): Uint8Array {
  let largest = 0
  for (let at = 0; at < vector.length; at++) largest = Math.max(largest, Math.abs(vector[at]!))
  if (!(largest > 0) || !Number.isFinite(largest)) return new Uint8Array()
  const bytes = new Uint8Array(4 + vector.length)
  new DataView(bytes.buffer).setFloat32(0, largest / 127, true)
  const rows = new Int8Array(bytes.buffer, 4)
  const factor = 127 / largest
  for (let at = 0; at < vector.length; at++) rows[at] = Math.round(vector[at]! * factor)
  return bytes
}

export function decode(bytes: Uint8Array): Float32Array | undefined {
  if (bytes.length <= 4) return undefined
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const scale = data.getFloat32(0, true)
  const vector = new Float32Array(bytes.length - 4)
  for (let at = 0; at < vector.length; at++) vector[at] = scale * data.getInt8(4 + at)
  return vector
}
