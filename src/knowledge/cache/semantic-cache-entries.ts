// Entries of a semantic cache as they are handed in and out. What is read back was written by others: one that is broken is
// named and left out, the rest is used.
import * as Log from "#kernel/process/log.ts"
import { NamedError } from "#util/error.ts"

/** As whoever keeps them gets them: plain JSON. */
export type SerializableCacheEntry = {
  id: number
  query: string
  response: string
  /** Milliseconds since 1970. */
  cachedAt: number
  hitCount: number
  /** Empty where there is none; it is made again from the query. */
  embedding: number[]
  /** What made the embedding. One of another embedder is made again. */
  embedder?: string
}

class BadEntries extends NamedError {
  constructor(given: unknown) {
    const kind = given === null ? "null" : typeof given
    super("SemanticCache.BadEntries", `initialEntries must be a list of entries, not ${kind}.`, {})
  }
}

const maxNamed = 5

/** An id that another has, or that is none, is given anew. */
type Read = Omit<SerializableCacheEntry, "id"> & { id?: number }

/** Those that can be used, oldest first. */
export function readEntries(given: unknown): Read[] {
  if (!Array.isArray(given)) throw new BadEntries(given)
  const problems: string[] = []
  const ids = new Set<number>()
  const entries: Read[] = []
  for (const [at, item] of given.entries()) {
    const problem = problemOf(item)
    if (problem) problems.push(`entry ${at}: ${problem}`)
    else entries.push(repaired(item, ids))
  }
  if (problems.length > 0)
    Log.warn("entries of a semantic cache are left out", {
      count: problems.length,
      problems: problems.slice(0, maxNamed),
    })
  return entries.sort((a, b) => a.cachedAt - b.cachedAt)
}

function problemOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return "it is no object"
  const { query, response, cachedAt } = item as Record<string, unknown>
  if (typeof query !== "string") return "query is no text"
  if (typeof response !== "string") return "response is no text"
  if (typeof cachedAt !== "number" || !Number.isFinite(cachedAt)) return "cachedAt is no time"
  return undefined
}

/** What only helps is set right: a time of the future would never expire, a vector can be made again. */
function repaired(entry: SerializableCacheEntry, ids: Set<number>): Read {
  const { id, query, response, cachedAt, hitCount, embedding, embedder } = entry
  const isNew = Number.isSafeInteger(id) && id > 0 && !ids.has(id)
  if (isNew) ids.add(id)
  return {
    ...(isNew ? { id } : {}),
    query,
    response,
    cachedAt: Math.min(cachedAt, Date.now()),
    hitCount: Number.isInteger(hitCount) && hitCount > 0 ? hitCount : 0,
    embedding: Array.isArray(embedding) && embedding.every(Number.isFinite) ? embedding : [],
    ...(typeof embedder === "string" ? { embedder } : {}),
  }
}
