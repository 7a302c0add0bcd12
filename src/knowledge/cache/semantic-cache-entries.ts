// Entries of a semantic cache for import and export. Imported entries are not trusted: a broken one is reported and
// left out.
import { z } from "zod"
import * as Log from "#kernel/process/log.ts"
import { NamedError } from "#util/error.ts"

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

/** An embedding can be made again, and a wrong count does no harm. */
const Entry = z.object({
  id: z.number().catch(0),
  query: z.string(),
  response: z.string(),
  cachedAt: z.number(),
  hitCount: z.int().nonnegative().catch(0),
  embedding: z.array(z.number()).catch([]),
  embedder: z.string().optional().catch(undefined),
})

/** Those that can be used, oldest first. */
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
