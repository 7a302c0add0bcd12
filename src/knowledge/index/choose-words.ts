// Which words of a query FTS5 is asked for. Those that it reads as one ("file", "files") count once, and in a large index the
// ones that nearly everything has are left out: they tell little and cost most. Its own tokenizer and vocabulary say so.
import type { DatabaseSync } from "node:sqlite"
import { tokenizer } from "./index-file.ts"

export type WordChooser = Readonly<{
  choose(words: string[], size: number): string[]
  /** The documents are others now. */
  reset(): void
}>

const largeIndex = 1_000
/** Of all documents. What leaving them out costs and saves is told in docs/retrieval.md. */
const common = 0.25
const maxStems = 10_000

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
    const isTelling = (stem: string) => size < largeIndex || countOf(stem) <= common * size
    const telling = [...first].filter(([stem]) => isTelling(stem)).map(([, word]) => word)
    return telling.length ? telling : [...first.values()]
  }

  /** A word that FTS5 sees as none, or as several, stands for itself. */
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
