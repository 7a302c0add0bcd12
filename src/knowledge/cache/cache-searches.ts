// An index that remembers what it found a moment ago: a session asks the same again, turn after turn. Whatever changes the
// index forgets it all; what another process changes in the same file is seen when the moment is over.
import type { Embedder } from "#knowledge/embedder/types.ts"
import type { Hit, Index, SearchOptions } from "#knowledge/index/types.ts"
import { createSemanticCache } from "./semantic-cache.ts"

type Found = { options: string; hits: Hit[] }

const limits = { maxEntries: 500, maxBytes: 8_000_000, ttlMs: 30_000 }
/** To write and read longer lists takes as long as to search. */
const mostHits = 2_000

/** With an embedder that answers at once, a request in another dress is found as well. */
export function cacheSearches(index: Index, embedder?: Embedder): Index {
  const cache = createSemanticCache({ ...limits, embedder: embedder?.embedNow ? embedder : false })
  /** What was searched before a change must not be kept after it. */
  let changes = 0

  function changed(): void {
    changes++
    cache.clear()
  }

  async function search(query: string, options: SearchOptions = {}): Promise<Hit[]> {
    const { limit, group, mode } = options
    const wanted = JSON.stringify([limit, group, mode])
    const known = (await cache.lookup(query)).entry
    const found: Found | undefined = known && JSON.parse(known.response)
    if (found?.options === wanted) return found.hits
    const before = changes
    const hits = await index.search(query, options)
    if (hits.length <= mostHits && changes === before)
      await cache.store(query, JSON.stringify({ options: wanted, hits } satisfies Found))
    return hits
  }

  async function put(...given: Parameters<Index["put"]>): Promise<void> {
    changed()
    await index.put(...given)
    changed()
  }

  function remove(ids: readonly string[]): void {
    if (ids.length === 0) return
    changed()
    index.remove(ids)
  }

  function removeGroup(group: string): void {
    changed()
    index.removeGroup(group)
  }

  function close(): void {
    cache.clear()
    index.close()
  }

  return Object.freeze({ ...index, put, remove, removeGroup, search, close })
}
