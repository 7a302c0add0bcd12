// The tables of an index: documents, their words and their vectors, by row number. The rows of removed documents are
// reused, so that the number can also be the place of the vector in memory.
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { tokenizer } from "./index-file.ts"
import { queryWords, spell } from "./spell.ts"
import type { Document } from "./types.ts"

/** BM25 with a weight for each column: name, text, more. A lower score is better. */
const score = "bm25(words, 2.0, 1.0, 0.5)"

type WordChooser = Readonly<{
  choose(words: string[], size: number): string[]
  /** Call when documents have changed. */
  reset(): void
}>
export type Entry = { row: number; hash: number; group: string; id: string }
export type Found = { row: number; score: number }
/** `vector` is missing if the document has not been embedded. */
export type Change = { document: Document; hash: number; vector?: Uint8Array }
export type Store = ReturnType<typeof createStore>

const largeIndex = 1_000
/** A word is common if it occurs in more than this share of the documents. docs/retrieval.md shows the effect. */
const common = 0.25
const maxStems = 10_000

export function createStore(db: DatabaseSync, embedder: string) {
  const sql = prepare(db)
  const chooser = createWordChooser(db)
  const entries = new Map<string, Entry>()
  const byRow: (Entry | undefined)[] = []
  const embedded = new Set<number>()
  const free: number[] = []
  let version = -1
  let generation = 0

  /** Reads everything again if another process has written. */
  function refresh(): void {
    const now = Number(sql.version.get()?.data_version)
    if (now === version) return
    version = now
    generation++
    chooser.reset()
    entries.clear()
    embedded.clear()
    byRow.length = 1
    free.length = 0
    for (const entry of sql.all.iterate()) keep(entry as Entry)
    for (let row = byRow.length - 1; row > 0; row--) if (!byRow[row]) free.push(row)
    for (const { row } of sql.embedded.iterate(embedder)) embedded.add(Number(row))
  }

  function keep(entry: Entry): void {
    entries.set(entry.id, entry)
    byRow[entry.row] = entry
  }

  /** Returns the row of each change. */
  function write(changes: readonly Change[]): number[] {
    return transaction(() =>
      changes.map(({ document, hash, vector }) => {
        const { id, group } = document
        const before = entries.get(id)
        const row = before?.row ?? free.pop() ?? byRow.length
        if (before?.hash !== hash) writeDocument(row, { document, hash })
        if (vector) sql.putVector.run(row, embedder, vector)
        if (vector) embedded.add(row)
        keep({ row, hash, group, id })
        return row
      }),
    )
  }

  function writeDocument(row: number, { document, hash }: Change): void {
    const { id, group, name, text, more = "" } = document
    drop(row)
    sql.put.run(row, id, group, hash, name, text, more)
    sql.putWords.run(row, spell(name), spell(text), spell(`${more} ${group}`))
  }

  function drop(row: number): void {
    if (!byRow[row]) return
    sql.remove.run(row)
    sql.removeWords.run(row)
    sql.removeVectors.run(row)
    embedded.delete(row)
  }

  function remove(ids: readonly string[]): number[] {
    return transaction(() =>
      ids.flatMap((id) => {
        const entry = entries.get(id)
        if (!entry) return []
        drop(entry.row)
        entries.delete(id)
        byRow[entry.row] = undefined
        free.push(entry.row)
        return entry.row
      }),
    )
  }

  function transaction<T>(work: () => T): T {
    db.exec("begin immediate")
    try {
      refresh()
      chooser.reset()
      const result = work()
      db.exec("commit")
      return result
    } catch (error) {
      version = -1
      if (db.isTransaction) db.exec("rollback")
      throw error
    }
  }

  /** Best first. The score is negated, so that higher is better. */
  function findWords(query: string, options: { limit: number; group?: string | undefined }): Found[] {
    const words = chooser.choose(queryWords(query), entries.size)
    if (!words.length) return []
    const found = match(words.map(quote).join(" OR "), options)
    if (found.length) return found
    return match(words.map((word) => `${quote(word)}*`).join(" OR "), options)
  }

  function match(words: string, { limit, group }: { limit: number; group?: string | undefined }): Found[] {
    const rows = group === undefined ? sql.find.all(words, limit) : sql.findIn.all(words, group, limit)
    return (rows as unknown as [number, number][]).map(([row, least]) => ({ row, score: -least }))
  }

  function* readVectors(): Generator<[number, Uint8Array]> {
    for (const { row, data } of sql.vectors.iterate(embedder)) yield [Number(row), data as Uint8Array]
  }

  function readDocument(row: number): Document | undefined {
    return sql.get.get(row) as Document | undefined
  }

  return {
    entries,
    byRow,
    embedded,
    refresh,
    /** Incremented whenever all entries were read again. */
    generation: () => generation,
    write,
    remove,
    findWords,
    readVectors,
    readDocument,
    close: () => db.close(),
  }
}

/** Quotes a word, so that FTS5 does not read it as an operator. */
function quote(word: string): string {
  return `"${word}"`
}

function prepare(db: DatabaseSync) {
  // FTS5's own column "rank" would make this 50 % slower.
  const find = db.prepare(
    `select rowid, ${score} as score from words where words match ? order by score limit ?`,
  )
  const findIn = db.prepare(
    `select words.rowid, ${score} as score from words join documents on row = words.rowid
     where words match ? and grp = ? order by score limit ?`,
  )
  for (const statement of [find, findIn] as StatementSync[]) statement.setReturnArrays(true)
  return {
    find,
    findIn,
    version: db.prepare("pragma data_version"),
    all: db.prepare('select row, id, grp as "group", hash from documents'),
    embedded: db.prepare("select row from vectors where embedder = ?"),
    vectors: db.prepare("select row, data from vectors where embedder = ?"),
    get: db.prepare('select id, grp as "group", name, text, more from documents where row = ?'),
    put: db.prepare("insert into documents values (?, ?, ?, ?, ?, ?, ?)"),
    putWords: db.prepare("insert into words (rowid, name, text, more) values (?, ?, ?, ?)"),
    putVector: db.prepare("insert or replace into vectors values (?, ?, ?)"),
    remove: db.prepare("delete from documents where row = ?"),
    removeWords: db.prepare("delete from words where rowid = ?"),
    removeVectors: db.prepare("delete from vectors where row = ?"),
  }
}

/** Chooses the words of a query that FTS5 searches for. Words with the same stem ("file", "files") count once. In a large
 * index, common words are left out: they say least and cost most. Stems and counts come from FTS5 itself. */
export function createWordChooser(db: DatabaseSync): WordChooser {
  db.exec(`
    pragma temp_store = memory;
    create virtual table temp.asked using fts5 (words, content = '', tokenize = "${tokenizer}");
    create virtual table temp.stems using fts5vocab (temp, asked, instance);
    create virtual table temp.known using fts5vocab (main, words, row);
  `)
  const ask = db.prepare("insert into temp.asked (rowid, words) values (?, ?)")
  const read = db.prepare("select doc, term from temp.stems")
  const forget = db.prepare("insert into temp.asked (asked) values ('delete-all')")
  const count = db.prepare("select doc from temp.known where term = ?")
  const stems = new Map<string, string>()
  const counts = new Map<string, number>()

  function choose(words: string[], size: number): string[] {
    if (stems.size > maxStems) stems.clear()
    learn(words.filter((word) => !stems.has(word)))
    const first = new Map<string, string>()
    for (const word of words) if (!first.has(stems.get(word)!)) first.set(stems.get(word)!, word)
    const isRare = (stem: string) => size < largeIndex || countOf(stem) <= common * size
    const rare = [...first].filter(([stem]) => isRare(stem)).map(([, word]) => word)
    return rare.length ? rare : [...first.values()]
  }

  /** Asks FTS5 for the stems of words. A word without one is its own stem. */
  function learn(words: string[]): void {
    if (!words.length) return
    for (const [at, word] of words.entries()) {
      stems.set(word, word)
      ask.run(at, word)
    }
    for (const { doc, term } of read.all()) stems.set(words[Number(doc)]!, String(term))
    forget.run()
  }

  function countOf(term: string): number {
    const known = counts.get(term) ?? Number(count.get(term)?.doc ?? 0)
    counts.set(term, known)
    return known
  }

  return { choose, reset: () => counts.clear() }
}
