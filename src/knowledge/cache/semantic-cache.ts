// Answers that were given before, for the same request. Vectors find what is near; whether it is the same request, words
// decide (semantic-cache-request.ts), since an answer to another one must never be replayed. Entries live in memory; whoever
// wants to keep them is handed them.
import * as Log from "#kernel/process/log.ts"
import { createEmbedder, type EmbedderConfig } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createPersister } from "#knowledge/relation/persister.ts"
import { errorText } from "#util/error.ts"
import { readEntries, type SerializableCacheEntry } from "./semantic-cache-entries.ts"
import { plainRequest } from "./semantic-cache-request.ts"
import { createStore, type Kept } from "./semantic-cache-store.ts"
import { shareAnswers } from "./share-answers.ts"

export type { SerializableCacheEntry }
export type SemanticCacheConfig = {
  /** `false`: only the exact request counts. Default: the embedded model. */
  embedder?: Embedder | EmbedderConfig | false
  /** How near a request must be before its words are compared. Default: 0.85. */
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
  /** Of a hit: the request was the very same, or the same but for its dress. */
  match?: "exact" | "similar"
  /** Of a miss: what was near enough by vector, and is another request by its words. */
  rejected?: { query: string; similarity: number }
  lookupMs: number
}
/** A rejection is a miss as well. */
export type CacheStats = {
  totalEntries: number
  totalHits: number
  exactHits: number
  similarHits: number
  totalMisses: number
  totalRejections: number
  hitRate: number
  avgSimilarity: number
  bytes: number
}
export type SemanticCache = Readonly<{
  lookup(query: string): Promise<CacheLookupResult>
  store(query: string, response: string): Promise<void>
  /** Whoever asks the same while it is computed waits for that, and computes only where that fails. */
  getOrCompute(query: string, compute: () => Promise<string>): Promise<{ response: string; cached: boolean }>
  stats(): CacheStats
  clear(): void
  /** How many went. */
  clearExpired(): number
  /** Throws `Memory.PersistFailed`; nothing is lost by that. */
  persist(): Promise<void>
  close(): Promise<void>
}>

const day = 86_400_000
/** How many entries that came without a vector get theirs along with a lookup: as many as cost few milliseconds. */
const catchUp = { now: 400, later: 64 }

export function createSemanticCache(config: SemanticCacheConfig = {}): SemanticCache {
  const { similarityThreshold = 0.85, maxEntries = 1_000, maxBytes = 256_000_000, ttlMs = day } = config
  const embedder = embedderOf(config.embedder)
  const store = createStore({ maxEntries, maxBytes, ttlMs, dimensions: embedder?.dimensions ?? 16 })
  const counts = { exact: 0, similar: 0, misses: 0, rejections: 0, similarity: 0 }
  const persister = createPersister(snapshot, config.onPersist)
  let waiting: Kept[] = []
  let isWarned = false
  for (const entry of readEntries(config.initialEntries ?? []).slice(-maxEntries)) restore(entry)

  function restore({ embedding, embedder: madeBy, ...entry }: ReturnType<typeof readEntries>[number]): void {
    if (Date.now() - entry.cachedAt >= ttlMs) return
    const isOurs = embedding.length === embedder?.dimensions && (madeBy ?? embedder.id) === embedder.id
    const kept = store.add(entry, isOurs ? Float32Array.from(embedding) : undefined)
    if (kept && embedder && !isOurs) waiting.push(kept)
  }

  async function lookup(query: string): Promise<CacheLookupResult> {
    const start = performance.now()
    const found = await find(query)
    return { ...found, lookupMs: performance.now() - start }
  }

  async function find(query: string): Promise<Omit<CacheLookupResult, "lookupMs">> {
    const exact = store.exact(query)
    if (exact) return hit(exact, "exact", 1)
    const vector = embedder && store.size() > 0 ? await vectorFor(query) : undefined
    if (!vector) return miss()
    const same = store.same(query)
    const own = same && store.vectorOf(same)
    const similarity = own ? dot(vector, own) : 0
    if (same && similarity >= similarityThreshold) return hit(same, "similar", similarity)
    const near = store.nearest(vector)
    if (!near || near.similarity < similarityThreshold) return miss()
    counts.rejections++
    return { ...miss(), rejected: { query: near.kept.query, similarity: near.similarity } }
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
    const vector = embedder ? await vectorFor(query) : undefined
    const kept = store.add({ query, response, cachedAt: Date.now(), hitCount: 0 }, vector)
    if (kept && embedder && !vector) waiting.push(kept)
    changed()
  }

  /** With it, those that wait for theirs. None where the embedder fails: then only the exact request counts. */
  async function vectorFor(query: string): Promise<Float32Array | undefined> {
    if (!embedder) return undefined
    const others = waiting.splice(0, embedder.embedNow ? catchUp.now : catchUp.later)
    try {
      const texts = [query, ...others.map((kept) => kept.query)].map(plainRequest)
      const [own, ...rest] = embedder.embedNow
        ? texts.map(embedder.embedNow)
        : await embedder.embedBatch(texts)
      for (const [at, kept] of others.entries()) store.place(kept, rest[at]!)
      return own
    } catch (error) {
      waiting = [...others, ...waiting].slice(0, maxEntries)
      if (!isWarned) Log.warn("a semantic cache goes on without vectors", { error: errorText(error) })
      isWarned = true
      return undefined
    }
  }

  function snapshot(): SerializableCacheEntry[] {
    return store.all().map((kept) => {
      const { id, query, response, cachedAt, hitCount } = kept
      const embedding = [...(store.vectorOf(kept) ?? [])]
      return {
        id,
        query,
        response,
        cachedAt,
        hitCount,
        embedding,
        ...(embedder ? { embedder: embedder.id } : {}),
      }
    })
  }

  function changed(): void {
    if (config.autoPersist) persister.persistSoon()
  }

  const getOrCompute = shareAnswers(async (query, compute) => {
    const { entry } = await lookup(query)
    if (entry) return { response: entry.response, cached: true }
    const response = await compute()
    await put(query, response)
    return { response, cached: false }
  })

  function stats(): CacheStats {
    const { exact, similar, misses, rejections, similarity } = counts
    const hits = exact + similar
    return {
      totalEntries: store.size(),
      totalHits: hits,
      exactHits: exact,
      similarHits: similar,
      totalMisses: misses,
      totalRejections: rejections,
      hitRate: hits + misses > 0 ? hits / (hits + misses) : 0,
      avgSimilarity: hits > 0 ? similarity / hits : 0,
      bytes: store.bytes(),
    }
  }

  function clear(): void {
    store.clear()
    waiting = []
    Object.assign(counts, { exact: 0, similar: 0, misses: 0, rejections: 0, similarity: 0 })
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
    waiting = []
    // One that was given is its owner's.
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
