// The entries of a semantic cache, bounded in number, bytes and age. The least recently used one is removed first.
// Imported entries are not trusted: a broken one is reported and left out.
import { z } from "zod"
import * as Log from "#kernel/process/log.ts"
import { NamedError } from "#util/error.ts"
import { plainRequest } from "./semantic-cache-request.ts"

/** In the form for storage: plain JSON. */
export type SerializableCacheEntry = {
  id: number
  query: string
  response: string
  /** Milliseconds since 1970. */
  cachedAt: number
  hitCount: number
  /** Empty if there is none; it is computed again from the query. */
  embedding: number[]
  /** The id of its embedder. The embedding of another embedder is computed again. */
  embedder?: string
}

export type Kept = {
  id: number
  query: string
  response: string
  cachedAt: number
  hitCount: number
  vector?: Float32Array | undefined
}
type Limits = { maxEntries: number; maxBytes: number; ttlMs: number; dimensions: number }

class BadEntries extends NamedError {
  constructor(given: unknown) {
    const kind = given === null ? "null" : typeof given
    super("SemanticCache.BadEntries", `initialEntries must be a list of entries, not ${kind}.`, {})
  }
}

const maxNamed = 5

/** A missing embedding is computed again, and a wrong count does no harm. */
const Entry = z.object({
  id: z.number().catch(0),
  query: z.string(),
  response: z.string(),
  cachedAt: z.number(),
  hitCount: z.int().nonnegative().catch(0),
  embedding: z.array(z.number()).catch([]),
  embedder: z.string().optional().catch(undefined),
})

/** Bytes of an entry beside its texts. */
const overhead = 400

export function createStore({ maxEntries, maxBytes, ttlMs, dimensions }: Limits) {
  const byQuery = new Map<string, Kept>()
  const byPlain = new Map<string, Kept>()
  let bytes = 0
  let lastId = 0

  /** False if the clock went back, because the age is then unknown. */
  const isFresh = ({ cachedAt }: Kept) => cachedAt <= Date.now() && Date.now() - cachedAt < ttlMs
  const sizeOf = ({ query, response }: Kept) =>
    6 * query.length + 2 * response.length + 4 * dimensions + overhead

  /** A given id is kept if it is above all others. */
  function add(entry: Omit<Kept, "id"> & { id?: number }): void {
    const kept = { ...entry, id: Math.max(entry.id ?? 0, lastId + 1) }
    lastId = kept.id
    const before = byQuery.get(entry.query.trim())
    if (before) remove(before)
    if (sizeOf(kept) > maxBytes || maxEntries < 1) return
    byQuery.set(kept.query.trim(), kept)
    byPlain.set(plainRequest(kept.query), kept)
    bytes += sizeOf(kept)
    for (const oldest of byQuery.values()) {
      if (byQuery.size <= maxEntries && bytes <= maxBytes) break
      remove(oldest)
    }
  }

  function remove(kept: Kept): void {
    byQuery.delete(kept.query.trim())
    const plain = plainRequest(kept.query)
    if (byPlain.get(plain) === kept) byPlain.delete(plain)
    bytes -= sizeOf(kept)
  }

  function fresh(kept: Kept | undefined): Kept | undefined {
    if (!kept || isFresh(kept)) return kept
    remove(kept)
    return undefined
  }

  /** Marks an entry as the most recently used one. */
  function touch(kept: Kept): void {
    const key = kept.query.trim()
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
    exact: (query: string) => fresh(byQuery.get(query.trim())),
    /** The entry of the same request, which may differ in politeness and punctuation. */
    same: (query: string) => fresh(byPlain.get(plainRequest(query))),
    all: () => [...byQuery.values()],
    size: () => byQuery.size,
    bytes: () => bytes,
  })
}

/** The usable ones of imported entries, oldest first. */
export function readEntries(given: unknown): z.infer<typeof Entry>[] {
  if (!Array.isArray(given)) throw new BadEntries(given)
  const problems: string[] = []
  const entries = given.flatMap((item, at) => {
    const { data, error } = Entry.safeParse(item)
    if (error) problems.push(`entry ${at}: ${error.issues[0]?.path.join(".")} ${error.issues[0]?.message}`)
    // A time in the future would never expire.
    return data ? [{ ...data, cachedAt: Math.min(data.cachedAt, Date.now()) }] : []
  })
  if (problems.length > 0)
    Log.warn("entries of a semantic cache are left out", {
      count: problems.length,
      problems: problems.slice(0, maxNamed),
    })
  return entries.sort((a, b) => a.cachedAt - b.cachedAt)
}
