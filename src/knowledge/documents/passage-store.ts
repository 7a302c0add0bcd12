// The passages of a folder in SQLite: their words in FTS5, and a vector for each part, which is a few passages of one file.
// The vectors of single passages are made when a question needs them, so that indexing costs little more than FTS5 itself.

import type { DatabaseSync } from "node:sqlite"
import { createWordChooser, type Found } from "#knowledge/index/index-store.ts"
import { openDatabase } from "#knowledge/index/open-database.ts"
import { queryWords, spell } from "#knowledge/index/spell.ts"
import { passageFile } from "./passage-file.ts"

/** `page` is 0 in a file without pages; `from` and `to` are lines of the page. */
export type NewPassage = {
  name: string
  text: string
  more: string
  page: number
  from: number
  to: number
}
/** `vector`: its passages begin at `at` among those of the file. */
export type NewPart = { at: number; count: number; vector: Uint8Array | undefined }
export type NewFile = { path: string; stamp: string; passages: NewPassage[]; parts: NewPart[] }
export type Stored = {
  row: number
  path: string
  page: number
  from: number
  to: number
  name: string
  text: string
}
export type PassageStore = ReturnType<typeof createPassageStore>

/** BM25 with a weight for each column: name, text, more. */
const score = "bm25(words, 2.0, 1.0, 0.5)"
const hump = /[a-z0-9][A-Z]/g
/** Thai to Khmer, Japanese and Chinese: scripts without blanks between words. */
const unspaced = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/

export function createPassageStore(path: string, embedder: string) {
  const db = openDatabase(path, passageFile)
  const chooser = createWordChooser(db)
  const sql = prepare(db)
  let known: { version: number; stamps: ReadonlyMap<string, string> } | undefined

  /** Changes with every write of another process. */
  function version(): number {
    return Number(sql.version.get()?.data_version)
  }

  /** Replaces files. The passages come first and without other statements between them: FTS5 would write its buffer to
   * the disk at each of these, which takes three times as long. */
  function put(files: readonly NewFile[]): void {
    transact(() => {
      for (const { path: name } of files) drop(name)
      const next = Number(sql.lastRow.get()?.row ?? 0) + 1
      let row = next
      for (const { passages } of files)
        for (const { name, text, more, page, from, to } of passages)
          sql.putWords.run(row++, name, text, moreWords(name, text, more), `${page}-${from}-${to}`)
      let first = next
      for (const { path: name, stamp, passages, parts: of } of files) {
        const last = first + passages.length - 1
        const { lastInsertRowid: id } = sql.putFile.run(name, stamp, first, last)
        for (const { at, count, vector } of of)
          if (vector) sql.putPart.run(id, first + at, first + at + count - 1, embedder, vector)
        first = last + 1
      }
    })
  }

  function remove(paths: readonly string[]): void {
    if (!paths.length) return
    transact(() => paths.forEach(drop))
    // The log must not keep it either.
    db.exec("pragma wal_checkpoint(truncate)")
  }

  function drop(of: string): void {
    const file = sql.fileAt.get(of)
    if (!file) return
    sql.removeWords.run(file.first!, file.last!)
    sql.removeParts.run(file.id!)
    sql.removeFile.run(file.id!)
  }

  function transact(work: () => void): void {
    db.exec("begin immediate")
    try {
      work()
      db.exec("commit")
      known = undefined
    } catch (error) {
      if (db.isTransaction) db.exec("rollback")
      throw error
    }
  }

  /** The stamps of all files. */
  function stamps(): ReadonlyMap<string, string> {
    const now = version()
    if (known?.version !== now) {
      const rows = sql.stamps.all() as { path: string; stamp: string }[]
      known = { version: now, stamps: new Map(rows.map((row) => [row.path, row.stamp])) }
    }
    return known.stamps
  }

  /** Best first. */
  function findWords(query: string, limit: number): Found[] {
    chooser.reset()
    const words = chooser.choose(queryWords(query), size())
    if (!words.length) return []
    const match = (end: string) =>
      sql.find.all(words.map((word) => `"${word}"${end}`).join(" OR "), limit) as {
        row: number
        score: number
      }[]
    const found = match("")
    return (found.length ? found : match("*")).map(({ row, score: least }) => ({ row, score: -least }))
  }

  function size(): number {
    return Number(sql.count.get()?.count ?? 0)
  }

  function parts(): { id: number; first: number; last: number; vector: Uint8Array }[] {
    return sql.parts.all(embedder) as ReturnType<typeof parts>
  }

  function get(row: number): Stored | undefined {
    const found = sql.get.get(row) as (Omit<Stored, "page" | "from" | "to"> & { place: string }) | undefined
    if (!found) return undefined
    const { place, ...rest } = found
    const [page, from, to] = place.split("-").map(Number) as [number, number, number]
    return { ...rest, page, from, to }
  }

  return Object.freeze({
    version,
    put,
    remove,
    stamps,
    findWords,
    size,
    parts,
    get,
    documents: () => Number(sql.files.get()?.count),
    close: () => db.close(),
  })
}

/** Parts of identifiers, and pairs of letters for scripts without blanks: what FTS5 does not find itself. */
function moreWords(name: string, text: string, more: string): string {
  const whole = `${name} ${text}`
  if (unspaced.test(whole)) return `${more} ${spell(whole)}`
  const found = identifiersIn(whole)
  return found.length ? `${more} ${spell(found.join(" "))}` : more
}

/** Words such as `readFile`. One expression for all of it would take many times as long. */
function identifiersIn(text: string): string[] {
  const found: string[] = []
  hump.lastIndex = 0
  while (hump.test(text)) {
    let from = hump.lastIndex - 2
    while (from > 0 && isWord(text.charCodeAt(from - 1))) from--
    let to = hump.lastIndex
    while (to < text.length && isWord(text.charCodeAt(to))) to++
    found.push(text.slice(from, to))
    hump.lastIndex = to
  }
  return found
}

/** Letters and digits of ASCII. */
function isWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

function prepare(db: DatabaseSync) {
  return {
    version: db.prepare("pragma data_version"),
    lastRow: db.prepare("select max(last) as row from files"),
    putFile: db.prepare("insert into files (path, stamp, first, last) values (?, ?, ?, ?)"),
    putWords: db.prepare("insert into words (rowid, name, text, more, place) values (?, ?, ?, ?, ?)"),
    putPart: db.prepare("insert into parts (file, first, last, embedder, vector) values (?, ?, ?, ?, ?)"),
    fileAt: db.prepare("select id, first, last from files where path = ?"),
    removeWords: db.prepare("delete from words where rowid between ? and ?"),
    removeParts: db.prepare("delete from parts where file = ?"),
    removeFile: db.prepare("delete from files where id = ?"),
    stamps: db.prepare("select path, stamp from files"),
    find: db.prepare(
      `select rowid as row, ${score} as score from words where words match ? order by score limit ?`,
    ),
    count: db.prepare("select sum(last - first + 1) as count from files"),
    files: db.prepare("select count(*) as count from files"),
    parts: db.prepare("select id, first, last, vector from parts where embedder = ?"),
    get: db.prepare(
      `select words.rowid as row, path, place, name, text from words
       join files on files.id = (select id from files where first <= words.rowid order by first desc limit 1)
       where words.rowid = ?`,
    ),
  }
}
