// The entries of a semantic cache, bounded in number, bytes and age. The least recently used one goes first.
import { normalise, plainRequest } from "./semantic-cache-request.ts"

export type Kept = {
  id: number
  query: string
  response: string
  cachedAt: number
  hitCount: number
  vector?: Float32Array | undefined
}
type Limits = { maxEntries: number; maxBytes: number; ttlMs: number; dimensions: number }

/** What an entry takes beside its texts. */
const overhead = 400

export function createStore({ maxEntries, maxBytes, ttlMs, dimensions }: Limits) {
  const byQuery = new Map<string, Kept>()
  const byPlain = new Map<string, Kept>()
  let bytes = 0
  let lastId = 0

  /** Not if the clock went back: nobody knows how old it is. */
  const isFresh = ({ cachedAt }: Kept) => cachedAt <= Date.now() && Date.now() - cachedAt < ttlMs
  const sizeOf = ({ query, response }: Kept) =>
    6 * query.length + 2 * response.length + 4 * dimensions + overhead

  /** An id above those that are there stays. */
  function add(entry: Omit<Kept, "id"> & { id?: number }): void {
    const kept = { ...entry, id: Math.max(entry.id ?? 0, lastId + 1) }
    lastId = kept.id
    const before = byQuery.get(normalise(entry.query))
    if (before) remove(before)
    if (sizeOf(kept) > maxBytes || maxEntries < 1) return
    byQuery.set(normalise(kept.query), kept)
    byPlain.set(plainRequest(kept.query), kept)
    bytes += sizeOf(kept)
    for (const oldest of byQuery.values()) {
      if (byQuery.size <= maxEntries && bytes <= maxBytes) break
      remove(oldest)
    }
  }

  function remove(kept: Kept): void {
    byQuery.delete(normalise(kept.query))
    const plain = plainRequest(kept.query)
    if (byPlain.get(plain) === kept) byPlain.delete(plain)
    bytes -= sizeOf(kept)
  }

  function fresh(kept: Kept | undefined): Kept | undefined {
    if (!kept || isFresh(kept)) return kept
    remove(kept)
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
    touch,
    clear,
    removeExpired,
    exact: (query: string) => fresh(byQuery.get(normalise(query))),
    /** The same request but for its dress. */
    same: (query: string) => fresh(byPlain.get(plainRequest(query))),
    all: () => [...byQuery.values()],
    size: () => byQuery.size,
    bytes: () => bytes,
  })
}
