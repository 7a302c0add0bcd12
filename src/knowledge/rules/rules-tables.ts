// The database of rules-discovery: files with links, the links, their words for full-text search, and which parts of
// each document are indexed, so that an unchanged document costs only a stat.
import { DatabaseSync } from "node:sqlite"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"

/** A link of a file with rules. */
export type RuleReference = {
  /** The words between the brackets: what the link is found by. */
  displayText: string
  /** As it was written. */
  relativePath: string
  absolutePath: string
  /** The file that it is in. */
  source: string
  /** From 1. */
  lineNumber: number
}

/** The known state of a file on disk, and its number of index entries. */
export type Seen = { mtime: number; size: number; key: string; problem: string | null; entries: number }
type Row = RuleReference & { id: number }
export type RulesTables = ReturnType<typeof createRulesTables>

const schema = `
create table if not exists rules (
  rowid integer primary key autoincrement,
  path text unique not null,
  content text not null,
  mtime integer not null
);
create table if not exists rule_references (
  rowid integer primary key autoincrement,
  source_path text not null,
  display_text text not null,
  relative_path text not null,
  absolute_path text not null,
  line_number integer not null,
  foreign key (source_path) references rules(path) on delete cascade
);
create virtual table if not exists rules_fts using fts5(display_text, content);
create index if not exists idx_refs_source on rule_references(source_path);
create index if not exists idx_refs_target on rule_references(absolute_path);
create table if not exists rule_documents (
  path text primary key,
  mtime integer not null,
  size integer not null,
  key text not null,
  problem text,
  entries integer not null
);
create trigger if not exists refs_leave_fts after delete on rule_references begin
  delete from rules_fts where rowid = old.rowid;
end;
`
const maxWords = 32
/** Links to a document that are read. */
const maxLinksTo = 500
const drop =
  "drop table if exists rule_references; drop table if exists rules; drop table if exists rules_fts; drop table if exists rule_documents"
const asReference =
  "rowid as id, display_text as displayText, relative_path as relativePath, absolute_path as absolutePath, source_path as source, line_number as lineNumber"

/** Tables of another version are replaced. If the file cannot be used, the tables are in memory. */
export function openRulesTables(path = ":memory:"): RulesTables {
  try {
    const db = new DatabaseSync(path, { timeout: 2_000 })
    try {
      return createRulesTables(db)
    } catch {
      db.exec(drop)
      return createRulesTables(db)
    }
  } catch (error) {
    if (path === ":memory:") throw error
    Log.warn("the index of rules cannot be kept", { path, error: errorText(error) })
    return openRulesTables()
  }
}

function createRulesTables(db: DatabaseSync) {
  // Data lost in a power cut can be rebuilt.
  db.exec("pragma journal_mode = wal; pragma synchronous = off; pragma foreign_keys = on")
  db.exec(schema)
  const insertRule = db.prepare(
    "insert into rules (path, content, mtime) values (?, ?, ?) on conflict (path) do update set content = excluded.content, mtime = excluded.mtime",
  )
  const selectRule = db.prepare("select content, mtime from rules where path = ?")
  const dropRule = db.prepare("delete from rules where path = ?")
  const insertLink = db.prepare(
    "insert into rule_references (source_path, display_text, relative_path, absolute_path, line_number) values (?, ?, ?, ?, ?)",
  )
  const moveLink = db.prepare("update rule_references set line_number = ? where rowid = ?")
  const dropLink = db.prepare("delete from rule_references where rowid = ?")
  const linksFrom = db.prepare(
    `select ${asReference} from rule_references where source_path = ? order by line_number, rowid`,
  )
  const linksTo = db.prepare(
    `select ${asReference} from rule_references where absolute_path = ? order by rowid limit ${maxLinksTo}`,
  )
  const matching = db.prepare(
    "select absolute_path as path from rules_fts join rule_references on rule_references.rowid = rules_fts.rowid where rules_fts match ? order by bm25(rules_fts, 4, 1) limit ?",
  )
  const dropWords = db.prepare("delete from rules_fts where rowid = ?")
  const insertWords = db.prepare("insert into rules_fts (rowid, display_text, content) values (?, ?, ?)")
  const selectSeen = db.prepare(
    "select mtime, size, key, problem, entries from rule_documents where path = ?",
  )
  const insertSeen = db.prepare(
    "insert or replace into rule_documents (path, mtime, size, key, problem, entries) values (?, ?, ?, ?, ?, ?)",
  )
  const dropSeen = db.prepare("delete from rule_documents where path = ?")

  /** Replaces a file and all its links. A link that stays keeps its id. */
  function putSource(file: { path: string; text: string; mtime: number }, links: readonly RuleReference[]) {
    const before = selectRule.get(file.path)
    if (before?.content === file.text && before.mtime === file.mtime) return
    transact(() => {
      insertRule.run(file.path, file.text, file.mtime)
      const old = Map.groupBy(linksFrom.all(file.path) as Row[], keyOf)
      for (const link of links) {
        const same = old.get(keyOf(link))?.shift()
        const { displayText, relativePath, absolutePath, lineNumber } = link
        if (!same) insertLink.run(file.path, displayText, relativePath, absolutePath, lineNumber)
        else if (same.lineNumber !== lineNumber) moveLink.run(lineNumber, same.id)
      }
      for (const rows of old.values()) for (const { id } of rows) dropLink.run(id)
    })
  }

  /** Full-text entries of the links to a document. Only the first has the content of the document. */
  function putWords(path: string, content: string): void {
    for (const [i, { id, displayText }] of (linksTo.all(path) as Row[]).entries()) {
      dropWords.run(id)
      insertWords.run(id, displayText, i === 0 ? content : "")
    }
  }

  /** Documents by the words of their links and their content, the best first. */
  function search(query: string, limit: number): string[] {
    const words = [...new Set(query.match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, maxWords)
    if (!words.length) return []
    const match = words.map((word) => `"${word}"`).join(" OR ")
    return [...new Set(matching.all(match, limit).map(({ path }) => String(path)))]
  }

  /** Runs `work` in a transaction. */
  function transact(work: () => void): void {
    db.exec("begin immediate")
    try {
      work()
      db.exec("commit")
    } catch (error) {
      db.exec("rollback")
      throw error
    }
  }

  const pathsIn = (table: string) =>
    db
      .prepare(`select path from ${table}`)
      .all()
      .map(({ path }) => String(path))
  const sum = (what: string, table: string) =>
    Number(db.prepare(`select ${what} as n from ${table}`).get()?.n ?? 0)

  return Object.freeze({
    putSource,
    putWords,
    search,
    transact,
    /** Also removes its links and their words. */
    removeSource: (path: string) => void dropRule.run(path),
    linksFrom: (source: string) => (linksFrom.all(source) as Row[]).map(withoutId),
    linksTo: (path: string) => linksTo.all(path) as Row[],
    see: (path: string, { mtime, size, key, problem, entries }: Seen) =>
      void insertSeen.run(path, mtime, size, key, problem, entries),
    seen: (path: string) => selectSeen.get(path) as Seen | undefined,
    forget: (path: string) => void dropSeen.run(path),
    sources: () => pathsIn("rules"),
    documents: () => pathsIn("rule_documents"),
    counts: () => ({
      rules: sum("count(*)", "rules"),
      references: sum("count(*)", "rule_references"),
      documents: sum("count(*)", "rule_documents"),
      entries: sum("sum(entries)", "rule_documents"),
    }),
    close: () => db.close(),
    clear: () => db.exec("delete from rules; delete from rule_documents; delete from rules_fts"),
  })
}

export function withoutId({ id: _, ...link }: Row): RuleReference {
  return link
}

function keyOf({ displayText, relativePath, absolutePath }: RuleReference): string {
  return [displayText, relativePath, absolutePath].join("\0")
}
