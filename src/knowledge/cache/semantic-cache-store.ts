// The entries of a semantic cache: found by their words, compared by their vectors, bounded in number, bytes and age. The
// one that was used longest ago goes first.
import { createVectors, type Vectors } from "#knowledge/embedder/vectors.ts"
import { normalise, plainRequest } from "./semantic-cache-request.ts"

export type Kept = {
  id: number
  query: string
  response: string
  cachedAt: number
  hitCount: number
  /** Where its vector is; undefined while there is none. */
  slot?: number
}
export type Near = { kept: Kept; similarity: number }
type Limits = { maxEntries: number; maxBytes: number; ttlMs: number; dimensions: number }

/** What an entry takes beside its texts. */
const overhead = 400
/** How many that are too old are passed over in looking for the nearest. */
const maxTries = 16

export function createStore(limits: Limits) {
  const { maxEntries, maxBytes, ttlMs, dimensions } = limits
  const byQuery = new Map<string, Kept>()
  const byPlain = new Map<string, Kept>()
  const bySlot = new Map<number, Kept>()
  const free: number[] = []
  let vectors: Vectors | undefined
  let bytes = 0
  let lastId = 0

  /** Not where the clock went back: nobody knows how old it is. */
  const isFresh = ({ cachedAt }: Kept) => cachedAt <= Date.now() && Date.now() - cachedAt < ttlMs
  const sizeOf = ({ query, response }: Kept) => 6 * query.length + 2 * response.length + dimensions + overhead

  /** An id that is given stays. Undefined where it is too large to be kept. */
  function add(entry: Omit<Kept, "id" | "slot"> & { id?: number }, vector?: Float32Array): Kept | undefined {
    const kept: Kept = { ...entry, id: entry.id ?? lastId + 1 }
    lastId = Math.max(lastId, kept.id)
    const before = byQuery.get(normalise(entry.query))
    if (before) remove(before)
    if (sizeOf(kept) > maxBytes || maxEntries < 1) return undefined
    byQuery.set(normalise(kept.query), kept)
    byPlain.set(plainRequest(kept.query), kept)
    bytes += sizeOf(kept)
    if (vector) place(kept, vector)
    for (const oldest of byQuery.values()) {
      if (byQuery.size <= maxEntries && bytes <= maxBytes) break
      remove(oldest)
    }
    return kept
  }

  /** Only one that is still there. */
  function place(kept: Kept, vector: Float32Array): void {
    if (byQuery.get(normalise(kept.query)) !== kept) return
    kept.slot ??= free.pop() ?? bySlot.size
    bySlot.set(kept.slot, kept)
    vectors ??= createVectors(dimensions)
    vectors.put(kept.slot, vector)
  }

  function remove(kept: Kept): void {
    byQuery.delete(normalise(kept.query))
    const plain = plainRequest(kept.query)
    if (byPlain.get(plain) === kept) byPlain.delete(plain)
    bytes -= sizeOf(kept)
    if (kept.slot === undefined) return
    vectors?.remove(kept.slot)
    bySlot.delete(kept.slot)
    free.push(kept.slot)
  }

  function fresh(kept: Kept | undefined): Kept | undefined {
    if (!kept || isFresh(kept)) return kept
    remove(kept)
    return undefined
  }

  function nearest(vector: Float32Array): Near | undefined {
    for (const { slot, score } of vectors?.top(vector, maxTries) ?? []) {
      const kept = fresh(bySlot.get(slot))
      if (kept) return { kept, similarity: score }
    }
    return undefined
  }

  /** To the end of the line, where it is dropped last. */
  function touch(kept: Kept): void {
    const key = normalise(kept.query)
    byQuery.delete(key)
    byQuery.set(key, kept)
  }

  function removeExpired(): number {
    const old = [...byQuery.values()].filter((kept) => !isFresh(kept))
    for (const kept of old) remove(kept)
    return old.length
  }

  function clear(): void {
    for (const kept of [...byQuery.values()]) remove(kept)
  }

  return Object.freeze({
    add,
    place,
    touch,
    clear,
    removeExpired,
    nearest,
    exact: (query: string) => fresh(byQuery.get(normalise(query))),
    same: (query: string) => fresh(byPlain.get(plainRequest(query))),
    vectorOf: ({ slot }: Kept) => (slot === undefined ? undefined : vectors?.get(slot)),
    all: () => [...byQuery.values()],
    size: () => byQuery.size,
    bytes: () => bytes,
  })
}
