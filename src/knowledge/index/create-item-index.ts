// An index of items of any kind: their documents are in a search index, the items themselves in memory. The index is
// opened when it is first needed. Other processes may share its file: their changes do no harm here.
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createIndex } from "./create-index.ts"
import type { Document, Hit, Index } from "./types.ts"

export type ItemIndexConfig = {
  /** The file of the index. Default: in memory. */
  path?: string | undefined
  /** Without one, only words are searched. */
  embedder?: Embedder | undefined
}
type SearchOptions<T> = {
  limit?: number | undefined
  /** The group of the documents. */
  group?: string | undefined
  accepts?: ((item: T) => boolean) | undefined
}
/** Rank and score by words, and by vectors. */
export type Why = Pick<Hit, "text" | "vector">
export type ItemMatch<T> = { item: T; score: number } & Why
export type ItemIndex<T> = Readonly<{
  /** Adds an item, or replaces the one with its id. It enters the index with the next search. */
  put(item: T): void
  remove(isGone: (item: T) => boolean): void
  items(): T[]
  /** Updates the index now. */
  update(): Promise<void>
  /** The best first; empty once it is closed. */
  search(query: string, options?: SearchOptions<T>): Promise<ItemMatch<T>[]>
  close(): void
}>
type Known<T> = { item: T; document: Document }

const usualLimit = 10

export function createItemIndex<T>(
  documentOf: (item: T) => Document,
  config: ItemIndexConfig = {},
): ItemIndex<T> {
  const known = new Map<string, Known<T>>()
  let fresh = new Map<string, Document>()
  let index: Index | undefined
  let isStale = true
  let isClosed = false
  let work: Promise<unknown> = Promise.resolve()

  function put(item: T): void {
    const document = documentOf(item)
    const before = known.get(document.id)
    known.set(document.id, { item, document })
    if (before && JSON.stringify(before.document) === JSON.stringify(document)) return
    fresh.set(document.id, document)
    isStale = true
  }

  function remove(isGone: (item: T) => boolean): void {
    for (const [id, { item }] of known) {
      if (!isGone(item)) continue
      known.delete(id)
      fresh.delete(id)
      isStale = true
    }
  }

  async function search(query: string, options: SearchOptions<T> = {}): Promise<ItemMatch<T>[]> {
    const { limit = usualLimit, group, accepts = () => true } = options
    if (!known.size) return []
    await inTurn(update)
    // Hits that are not accepted, or belong to another process, may rank before the others.
    const others = () => countOthers(options) + Math.max(0, (index?.size() ?? 0) - known.size)
    const ask = async () =>
      index?.search(query, { limit: limit + others(), ...(group === undefined ? {} : { group }) }) ?? []
    let hits = await ask()
    if (await inTurn(makeWhole)) hits = await ask()
    return hits
      .flatMap(({ id, ...why }) => {
        const item = known.get(id)?.item
        return item !== undefined && accepts(item) ? [{ item, ...why }] : []
      })
      .slice(0, limit)
  }

  function countOthers({ group, accepts }: SearchOptions<T>): number {
    if (!accepts) return 0
    let count = 0
    for (const { item, document } of known.values())
      if ((group === undefined || document.group === group) && !accepts(item)) count++
    return count
  }

  /** One change of the index after the other. */
  function inTurn<R>(step: () => Promise<R>): Promise<R> {
    const done = work.then(step)
    work = done.catch(() => undefined)
    return done
  }

  async function update(): Promise<void> {
    if (isClosed) return
    index ??= createIndex({ ...(config.path ? { path: config.path } : {}), embedder: config.embedder })
    if (!isStale) return
    isStale = false
    const documents = fresh
    fresh = new Map()
    try {
      index.remove(index.ids().filter((id) => !known.has(id)))
      await index.put([...documents.values()])
    } catch (error) {
      fresh = new Map([...documents, ...fresh])
      isStale = true
      throw error
    }
  }

  /** Adds documents again that are missing because the file was replaced or another process removed them. Returns
   * whether any were missing. */
  async function makeWhole(): Promise<boolean> {
    const own = index?.ids().filter((id) => known.has(id))
    if (!own || own.length === known.size) return false
    // Unchanged documents cost next to nothing.
    await index?.put([...known.values()].map(({ document }) => document))
    return true
  }

  function close(): void {
    isClosed = true
    index?.close()
    index = undefined
  }

  const items = () => [...known.values()].map(({ item }) => item)
  return Object.freeze({ put, remove, items, update: () => inTurn(update), search, close })
}
