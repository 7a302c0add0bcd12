// What servers offer, all kinds of it in one index: found by words, known by its kind, its server and its name. The index
// is opened by the first search; what was put in until then enters it at once.
import { createEmbedder } from "#knowledge/discovery/create-embedder.ts"
import { createIndex } from "#knowledge/discovery/create-index.ts"
import type { Document, Embedder, Hit, Index } from "#knowledge/discovery/types.ts"
import { cacheSearches } from "#knowledge/memory/cache-searches.ts"
import { describeParameters } from "./describe-parameters.ts"
import type { MCPPrompt, MCPResource, MCPTool } from "./types.ts"

export type Kinds = { tool: MCPTool; resource: MCPResource; prompt: MCPPrompt }
export type Kind = keyof Kinds
export type SearchOptions = { limit?: number; serverId?: string }
export type CatalogConfig = {
  /** The file of the index; in memory where it is left out. */
  path?: string
  /** The embedded one where it is left out; without any, things are found by their words alone. */
  embedder?: Embedder | undefined
}
/** Where it stood among what was found by its words, and by what they mean. */
export type Why = Pick<Hit, "text" | "vector">
export type Match<K extends Kind> = { item: Kinds[K]; serverId: string; score: number } & Why
export type Catalog = Readonly<{
  put<K extends Kind>(kind: K, item: Kinds[K], serverId: string): void
  search<K extends Kind>(kind: K, query: string, options?: SearchOptions): Promise<Match<K>[]>
  /** The best of every kind. */
  searchAll(query: string, options?: SearchOptions): Promise<{ [K in Kind]: Match<K>[] }>
  removeServer(serverId: string): void
  close(): Promise<void>
}>
type Known = { kind: Kind; item: Kinds[Kind]; serverId: string; document: Document }
type Found = { kind: Kind; match: unknown; score: number }

const usualLimit = 10
/** Of the best score; what is further behind has little to do with the words. */
const least = 0.4

export function createCatalog(config: CatalogConfig = {}): Catalog {
  const known = new Map<string, Known>()
  const counts: Record<Kind, number> = { tool: 0, resource: 0, prompt: 0 }
  let fresh = new Map<string, Document>()
  let index: Index | undefined
  let isStale = true
  let work: Promise<unknown> = Promise.resolve()

  function put<K extends Kind>(kind: K, item: Kinds[K], serverId: string): void {
    const document = documentOf(kind, item, serverId)
    const before = known.get(document.id)
    if (!before) counts[kind]++
    known.set(document.id, { kind, item, serverId, document })
    if (before && JSON.stringify(before.document) === JSON.stringify(document)) return
    fresh.set(document.id, document)
    isStale = true
  }

  function removeServer(serverId: string): void {
    for (const [id, entry] of known)
      if (entry.serverId === serverId) {
        known.delete(id)
        fresh.delete(id)
        counts[entry.kind]--
        isStale = true
      }
  }

  async function search<K extends Kind>(kind: K, query: string, options: SearchOptions = {}) {
    const { limit = usualLimit } = options
    if (!counts[kind]) return []
    // So many of other kinds may stand before them.
    const others = known.size - counts[kind]
    const found = await hits(query, { ...options, limit: limit + others })
    return ofKind(kind, found).slice(0, limit)
  }

  async function searchAll(query: string, options: SearchOptions = {}) {
    const { limit = usualLimit } = options
    // Of the kind that there is least of, all may stand behind the others.
    const isOneKind = Object.values(counts).includes(known.size)
    const all = await hits(query, { ...options, limit: isOneKind ? limit : known.size })
    const enough = (all[0]?.score ?? 0) * least
    const found = all.filter(({ score }) => score >= enough)
    const best = <K extends Kind>(kind: K) => ofKind(kind, found).slice(0, limit)
    return { tool: best("tool"), resource: best("resource"), prompt: best("prompt") }
  }

  async function hits(query: string, { limit, serverId }: SearchOptions & { limit: number }) {
    if (!known.size) return []
    const ready = await inTurn(takeIn)
    const group = serverId === undefined ? {} : { group: serverId }
    // What another process has put into the same file may stand before the rest.
    const foreign = () => Math.max(0, ready.size() - known.size)
    const ask = async () =>
      ready === index ? ready.search(query, { limit: limit + foreign(), ...group }) : []
    let found = await ask()
    if (await inTurn(() => makeWhole(ready))) found = await ask()
    return found.flatMap(({ id, ...why }): Found[] => {
      const entry = known.get(id)
      if (!entry) return []
      const { kind, item, serverId } = entry
      return [{ kind, match: { item, serverId, ...why }, score: why.score }]
    })
  }

  /** One change of the index after the other. */
  function inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = work.then(step)
    work = done.catch(() => undefined)
    return done
  }

  /** The file may have been broken and begun anew, or another process has taken something out. Gives whether it was so. */
  async function makeWhole(ready: Index): Promise<boolean> {
    if (ready !== index) return false
    const there = new Set(ready.ids())
    const lost = [...known.values()].filter(({ document }) => !there.has(document.id))
    if (lost.length) await ready.put(lost.map(({ document }) => document))
    return lost.length > 0
  }

  async function takeIn(): Promise<Index> {
    index ??= open(config)
    if (!isStale) return index
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
    return index
  }

  async function close(): Promise<void> {
    await work
    index?.close()
    index = undefined
  }

  return Object.freeze({ put, search, searchAll, removeServer, close })
}

function open({ path, ...rest }: CatalogConfig): Index {
  const { embedder } = { embedder: createEmbedder(), ...rest }
  const index = createIndex({ ...(path ? { path } : {}), ...(embedder ? { embedder } : {}) })
  return cacheSearches(index, embedder)
}

function ofKind<K extends Kind>(kind: K, found: Found[]): Match<K>[] {
  return found.filter((one) => one.kind === kind).map(({ match }) => match as Match<K>)
}

function documentOf<K extends Kind>(kind: K, item: Kinds[K], serverId: string): Document {
  const { name, title, description } = item
  return {
    // No id of a server has a line end in it.
    id: [kind, serverId, "uri" in item ? item.uri : name].join("\n").toWellFormed(),
    group: serverId,
    name,
    text: [title, description].filter(Boolean).join("\n"),
    more: moreOf(item),
  }
}

function moreOf(item: Kinds[Kind]): string {
  if ("uri" in item) return item.uri
  if ("inputSchema" in item) return describeParameters(item.inputSchema)
  return (item.arguments ?? []).map(({ name, description = "" }) => `${name} ${description}`).join("\n")
}
