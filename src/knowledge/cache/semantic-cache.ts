// The semantic cache: earlier answers to the same request. The words decide whether it is the same
// (semantic-cache-request.ts), and vectors must agree, because a false cache hit must never happen. Entries are in
// memory; callers can persist them.
import * as Log from "#kernel/process/log.ts"
import { createEmbedder, type EmbedderConfig } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createPersister } from "#knowledge/relation/persister.ts"
import { errorText } from "#util/error.ts"
import { plainRequest } from "./semantic-cache-request.ts"
import { createStore, type Kept, readEntries, type SerializableCacheEntry } from "./semantic-cache-store.ts"

export type { SerializableCacheEntry }
export type SemanticCacheConfig = {
  /** `false`: only the exact request counts. Default: the embedded model. */
  embedder?: Embedder | EmbedderConfig | false
  /** How near the vectors of two requests must be. Default: 0.85. */
  similarityThreshold?: number
  /** Default: 1 000. */
  maxEntries?: number
  /** Default: 256 MB. A response that is larger than all of it is not kept. */
  maxBytes?: number
  /** Default: a day. */
  ttlMs?: number
  onPersist?: (entries: SerializableCacheEntry[]) => void | Promise<void>
  initialEntries?: readonly SerializableCacheEntry[]
  /** Call `onPersist` after each change, not only when asked to. */
  autoPersist?: boolean
}
export type CacheEntry = {
  query: string
  response: string
  cachedAt: number
  hitCount: number
  similarity: number
}
export type CacheLookupResult = {
  hit: boolean
  entry?: CacheEntry
  /** Of a hit: whether the request was the very same, or had another form. */
  match?: "exact" | "similar"
  lookupMs: number
}
export type CacheStats = {
  totalEntries: number
  totalHits: number
  exactHits: number
  similarHits: number
  totalMisses: number
  hitRate: number
  avgSimilarity: number
  bytes: number
}
export type SemanticCache = Readonly<{
  lookup(query: string): Promise<CacheLookupResult>
  store(query: string, response: string): Promise<void>
  /** Callers with the same request wait while it is computed, and compute it themselves only if that fails. */
  getOrCompute(query: string, compute: () => Promise<string>): Promise<{ response: string; cached: boolean }>
  stats(): CacheStats
  clear(): void
  /** Returns how many were removed. */
  clearExpired(): number
  /** Throws `Memory.PersistFailed`; nothing is lost by that. */
  persist(): Promise<void>
  close(): Promise<void>
}>

const day = 86_400_000

export function createSemanticCache(config: SemanticCacheConfig = {}): SemanticCache {
  const { similarityThreshold = 0.85, maxEntries = 1_000, maxBytes = 256_000_000, ttlMs = day } = config
  const embedder = embedderOf(config.embedder)
  const store = createStore({ maxEntries, maxBytes, ttlMs, dimensions: embedder?.dimensions ?? 16 })
  const counts = { exact: 0, similar: 0, misses: 0, similarity: 0 }
  const persister = createPersister(snapshot, config.onPersist)
  const running = new Map<string, Promise<string | undefined>>()
  let isWarned = false
  for (const { embedding, embedder: madeBy, ...entry } of readEntries(config.initialEntries ?? [])) {
    const isOurs = embedding.length === embedder?.dimensions && (madeBy ?? embedder.id) === embedder.id
    if (Date.now() - entry.cachedAt < ttlMs)
      store.add({ ...entry, vector: isOurs ? Float32Array.from(embedding) : undefined })
  }

  async function lookup(query: string): Promise<CacheLookupResult> {
    const start = performance.now()
    const found = await find(query)
    return { ...found, lookupMs: performance.now() - start }
  }

  async function find(query: string): Promise<Omit<CacheLookupResult, "lookupMs">> {
    const exact = store.exact(query)
    if (exact) return hit(exact, "exact", 1)
    const same = store.same(query)
    if (!same) return miss()
    const [own, its] = await vectorsOf(same.vector ? [query] : [query, same.query])
    same.vector ??= its
    const similarity = own && same.vector ? dot(own, same.vector) : Number.NEGATIVE_INFINITY
    // It may have been removed meanwhile.
    const isHit = similarity >= similarityThreshold && store.same(query) === same
    return isHit ? hit(same, "similar", similarity) : miss()
  }

  function hit(kept: Kept, match: "exact" | "similar", similarity: number) {
    kept.hitCount++
    counts[match]++
    counts.similarity += similarity
    store.touch(kept)
    const { query, response, cachedAt, hitCount } = kept
    return { hit: true, match, entry: { query, response, cachedAt, hitCount, similarity } }
  }

  function miss() {
    counts.misses++
    return { hit: false }
  }

  async function put(query: string, response: string): Promise<void> {
    const [vector] = await vectorsOf([query])
    store.add({ query, response, cachedAt: Date.now(), hitCount: 0, vector })
    changed()
  }

  /** None if the embedder fails: then only the exact request counts. */
  async function vectorsOf(queries: string[]): Promise<Float32Array[]> {
    if (!embedder) return []
    try {
      const texts = queries.map(plainRequest)
      return embedder.embedNow ? texts.map(embedder.embedNow) : await embedder.embedBatch(texts)
    } catch (error) {
      if (!isWarned) Log.warn("a semantic cache continues without vectors", { error: errorText(error) })
      isWarned = true
      return []
    }
  }

  function snapshot(): SerializableCacheEntry[] {
    const by = embedder ? { embedder: embedder.id } : {}
    return store.all().map(({ vector, ...entry }) => ({ ...entry, embedding: [...(vector ?? [])], ...by }))
  }

  function changed(): void {
    if (config.autoPersist) persister.persistSoon()
  }

  /** Of concurrent callers with the same request, one computes the answer. If it fails, only that caller gets the
   * error, and the next one computes the answer. */
  async function getOrCompute(query: string, compute: () => Promise<string>) {
    const key = query.trim()
    for (let other = running.get(key); other; other = running.get(key)) {
      const response = await other
      if (response !== undefined) return { response, cached: true }
    }
    const own = answer(query, compute)
    const heard = own.then(
      ({ response }) => response,
      () => undefined,
    )
    running.set(
      key,
      heard.finally(() => running.delete(key)),
    )
    return own
  }

  async function answer(query: string, compute: () => Promise<string>) {
    const { entry } = await lookup(query)
    if (entry) return { response: entry.response, cached: true }
    const response = await compute()
    await put(query, response)
    return { response, cached: false }
  }

  function stats(): CacheStats {
    const { exact, similar, misses, similarity } = counts
    const hits = exact + similar
    return {
      totalEntries: store.size(),
      totalHits: hits,
      exactHits: exact,
      similarHits: similar,
      totalMisses: misses,
      hitRate: hits + misses > 0 ? hits / (hits + misses) : 0,
      avgSimilarity: hits > 0 ? similarity / hits : 0,
      bytes: store.bytes(),
    }
  }

  function clear(): void {
    store.clear()
    Object.assign(counts, { exact: 0, similar: 0, misses: 0, similarity: 0 })
    changed()
  }

  function clearExpired(): number {
    const removed = store.removeExpired()
    if (removed > 0) changed()
    return removed
  }

  async function close(): Promise<void> {
    if (config.autoPersist) await persister.persist()
    store.clear()
    // An embedder that was passed in is closed by its owner.
    if (embedder !== config.embedder) await embedder?.close()
  }

  const persist = async () => persister.persist()
  return Object.freeze({ lookup, store: put, getOrCompute, stats, clear, clearExpired, persist, close })
}

function embedderOf(given: SemanticCacheConfig["embedder"]): Embedder | undefined {
  if (given === false) return undefined
  return given && "embed" in given ? given : createEmbedder(given)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}
