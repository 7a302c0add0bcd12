// Finding things by words: names and descriptions in an FTS5 table in memory. Whoever searches knows the interface only, so
// that what else finds things can stand behind it as well.
import { DatabaseSync } from "node:sqlite"

type Item = { id: string; name: string; description: string }
type Hit = { id: string; score: number }
export type Index = Readonly<{
  /** In the place of what had this id before. */
  put(item: Item): void
  remove(id: string): void
  /** The best first; a higher score is better. */
  search(query: string, limit: number): Hit[]
  close(): void
}>

const maxWords = 32
const maxText = 20_000
/** They are in every description and say nothing. */
const empty = new Set(
  "a an and are as at be by for from in is it its of on or that the this to with".split(" "),
)

export function createTextIndex(): Index {
  const db = new DatabaseSync(":memory:")
  db.exec(
    "create virtual table items using fts5(id unindexed, name, description, tokenize = 'porter unicode61 remove_diacritics 2')",
  )
  const rows = new Map<string, number | bigint>()
  const insert = db.prepare("insert into items (id, name, description) values (?, ?, ?)")
  const drop = db.prepare("delete from items where rowid = ?")
  // A name says more than a description.
  const select = db.prepare(
    "select id, -bm25(items, 0, 4, 1) as score from items where items match ? order by score desc, id limit ?",
  )

  function put({ id, name, description }: Item): void {
    remove(id)
    const { lastInsertRowid } = insert.run(id, `${name} ${parts(name)}`, description.slice(0, maxText))
    rows.set(id, lastInsertRowid)
  }

  function remove(id: string): void {
    const row = rows.get(id)
    if (row !== undefined) drop.run(row)
    rows.delete(id)
  }

  function search(query: string, limit: number): Hit[] {
    const all = parts(query.slice(0, maxText)).match(/[\p{L}\p{N}]+/gu) ?? []
    const words = all.filter((word) => !empty.has(word.toLowerCase())).slice(0, maxWords)
    if (!words.length) return []
    // Quoted, so that no word is an operator; a longer one also as the beginning of another.
    const match = words
      .map((word) => (word.length < 3 ? `"${word}"` : `"${word}" OR "${word}"*`))
      .join(" OR ")
    return select.all(match, limit).map(({ id, score }) => ({ id: String(id), score: Number(score) }))
  }

  return Object.freeze({ put, remove, search, close: () => db.close() })
}

/** `readTextFile` is three words. */
function parts(name: string): string {
  return name.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ")
}
