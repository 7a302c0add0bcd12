// The search index of tools, skills, rules, resources and prompts: words in FTS5 and vectors, in one SQLite file or in
// memory. If the file fails, the index continues in memory: all of it can be rebuilt from what callers put.
import { hash } from "node:crypto"
import * as Log from "#kernel/process/log.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { errorText } from "#util/error.ts"
import { fuse } from "./fuse.ts"
import { indexFile } from "./index-file.ts"
import { type Change, createStore, type Store } from "./index-store.ts"
import { inMemory, isBroken, openDatabase, openMemory, replaceDatabase, sqliteCode } from "./open-database.ts"
import type { Document, Hit, Index, SearchOptions } from "./types.ts"
import { createVectorTable, encode } from "./vector-table.ts"
import { createWeigher } from "./weigh.ts"

type IndexConfig = { path?: string; embedder?: Embedder | undefined }

const usualLimit = 10
/** How many hits of each search are fused. There are more text hits, because a document that is not among them gets a text
 * score of zero. */
const textDepth = 100
const vectorDepth = 50
const maxName = 1_000
const maxText = 20_000

export function createIndex({ path = inMemory, embedder }: IndexConfig = {}): Index {
  const vectorsOf = embedder ? vectorsBy(embedder) : ""
  const weigher = embedder && createWeigher(embedder)
  const table = embedder && createVectorTable(embedder.dimensions)
  let store = createStore(openDatabase(path, indexFile), vectorsOf)
  let isFile = path !== inMemory
  let isClosed = false
  /** After the embedder failed, searches do not embed missing documents; the next put() tries again. */
  let embeds = true

  async function put(documents: readonly Document[]): Promise<void> {
    embeds = true
    const before = store
    const changes = guard(() => changesOf(documents))
    if (!changes.length) return
    const vectors = await embedAll(changes.map(({ document }) => document))
    for (const [at, change] of changes.entries()) {
      const vector = vectors?.[at]
      if (vector) change.vector = encode(vector)
    }
    if (isClosed) return
    guard(() => write(changes))
    // The file was replaced meanwhile, and the new one has none of the documents.
    if (store !== before) await put(documents)
  }

  /** The documents to write: new, changed, or without a vector. Of equal ids the last one counts. */
  function changesOf(documents: readonly Document[]): Change[] {
    store.refresh()
    const changes = new Map<string, Change>()
    for (const given of documents) {
      const document = bound(given)
      const change = { document, hash: hashOf(document) }
      const known = store.entries.get(document.id)
      const isSame = known?.hash === change.hash && (!embedder || store.embedded.has(known.row))
      if (isSame) changes.delete(document.id)
      else changes.set(document.id, change)
    }
    return [...changes.values()]
  }

  function write(changes: readonly Change[]): void {
    const rows = store.write(changes)
    for (const [at, row] of rows.entries()) table?.put(row, changes[at]?.vector)
  }

  async function embedAll(documents: readonly Document[]): Promise<Float32Array[] | undefined> {
    try {
      return await weigher?.documents(documents)
    } catch (error) {
      embeds = false
      Log.warn("Documents were indexed without vectors", { embedder: vectorsOf, reason: errorText(error) })
      return undefined
    }
  }

  function remove(ids: readonly string[]): void {
    for (const row of guard(() => store.remove(ids))) table?.remove(row)
  }

  function removeGroup(group: string): void {
    const of = [...guard(read).values()].filter((entry) => entry.group === group)
    if (of.length) remove(of.map(({ id }) => id))
  }

  function read() {
    store.refresh()
    return store.entries
  }

  async function search(query: string, options: SearchOptions = {}): Promise<Hit[]> {
    const { mode, group } = options
    const question = mode === "text" ? undefined : await ask(query)
    if (isClosed) return []
    return guard(() => {
      store.refresh()
      const limit = Math.min(Math.floor(options.limit ?? usualLimit), store.entries.size)
      if (!(limit > 0)) return []
      const most = { text: Math.max(textDepth, limit), vector: Math.max(vectorDepth, limit) }
      const text = mode === "vector" ? [] : store.findWords(query, { limit: most.text, group })
      const near =
        question && table?.compare(question, { limit: most.vector, group, store, scale: question.scale })
      const findings = {
        text,
        vector: near?.top ?? [],
        near: near?.of ?? none,
        nearWindow: near?.ofWindow ?? none,
      }
      const hits = fuse({ ...findings, size: store.entries.size }, { ...options, limit })
      return hits.flatMap(({ row, ...hit }) => {
        // Undefined if another process has just removed it.
        const entry = store.byRow[row]
        return entry ? [{ id: entry.id, ...hit }] : []
      })
    })
  }

  /** Undefined without an embedder, or if it fails: then only words are searched. */
  async function ask(query: string) {
    if (!weigher) return undefined
    try {
      await embedMissing()
      return { ...(await weigher.question(query)), scale: await embedder?.scale?.() }
    } catch (error) {
      Log.warn("A search used words only, without vectors", { embedder: vectorsOf, reason: errorText(error) })
      return undefined
    }
  }

  /** Embeds documents that have no vector of this embedder: the file was written with another one, or without. */
  async function embedMissing(): Promise<void> {
    if (!embeds || guard(read).size === store.embedded.size) return
    const missing = [...store.entries.values()].filter(({ row }) => !store.embedded.has(row))
    await put(guard(() => missing.flatMap(({ row }) => store.readDocument(row) ?? [])))
  }

  /** If the file fails, repeats the work on a new file or in memory. */
  function guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!isFile || sqliteCode(error) === 0) throw error
      recover(error)
      return work()
    }
  }

  function recover(error: unknown): void {
    if (isBroken(error)) {
      store.close()
      store = createStore(replaceDatabase(path, indexFile), vectorsOf)
      return
    }
    Log.warn("An index file cannot be used; the index continues in memory", {
      path,
      reason: errorText(error),
    })
    isFile = false
    store = copyOf(store, vectorsOf)
  }

  function close(): void {
    if (!isClosed) store.close()
    isClosed = true
  }

  const ids = () => [...guard(read).keys()]
  const size = () => guard(read).size
  return Object.freeze({ put, remove, removeGroup, ids, search, size, close })
}

/** A key for the vectors of an embedder. If the embedder or its prefixes change, vectors are computed again. */
function vectorsBy({ id, dimensions, prefixes }: Embedder): string {
  return [id, dimensions, ...(prefixes ? [prefixes.query, prefixes.document] : [])].join("/")
}

function none(): number {
  return 0
}

/** Cuts long texts and removes halves of surrogate pairs. */
function bound({ id, group, name, text, more = "" }: Document): Document {
  const clean = (value: string, most: number) => value.slice(0, most).toWellFormed()
  return {
    id: id.toWellFormed(),
    group: group.toWellFormed(),
    name: clean(name, maxName),
    text: clean(text, maxText),
    more: clean(more, maxText),
  }
}

function hashOf({ group, name, text, more = "" }: Document): number {
  return hash("sha1", [group, name, text, more].join("\0"), "buffer").readUIntBE(0, 6)
}

/** A copy in memory of all that can still be read. */
function copyOf(store: Store, embedder: string): Store {
  const copy = createStore(openMemory(indexFile), embedder)
  try {
    const vectors = new Map(store.readVectors())
    const changes = [...store.entries.values()].flatMap(({ row, hash }) => {
      const document = store.readDocument(row)
      const vector = vectors.get(row)
      return document ? [{ document, hash, ...(vector && { vector }) }] : []
    })
    copy.write(changes)
    store.close()
  } catch (error) {
    Log.warn("The content of an index file is lost", { reason: errorText(error) })
  }
  return copy
}
