// Opens the database of an index. Everything in it can be rebuilt: a broken file, or one of an older format, is
// quarantined and replaced. If no file can be used, the index is in memory. Each case is logged.
import { mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"

export const inMemory = ":memory:"
/** Words consist of letters, marks and digits of every script, and of symbols such as emoji. English words are stemmed. */
export const tokenizer = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co So'"
const format = 1
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const broken = new Set([11, 26])
const schema = `
  create table documents (
    row integer primary key, id text not null unique, grp text not null, hash integer not null,
    name text not null, text text not null, more text not null
  );
  create index groups on documents (grp);
  create table vectors (row integer, embedder text, data blob not null, primary key (row, embedder)) without rowid;
  create virtual table words using fts5 (
    name, text, more, content = '', contentless_delete = 1,
    tokenize = "${tokenizer}"
  );
  pragma user_version = ${format};
`

export function openIndexFile(path: string): DatabaseSync {
  if (path === inMemory) return openMemory()
  try {
    return open(path)
  } catch (error) {
    return isBroken(error) ? beginAnew(path) : fallBack(path, error)
  }
}

/** Quarantines the broken file and creates a new one. */
export function beginAnew(path: string): DatabaseSync {
  try {
    quarantine(path, "is broken")
    return open(path)
  } catch (error) {
    return fallBack(path, error)
  }
}

export function openMemory(): DatabaseSync {
  const db = new DatabaseSync(inMemory)
  db.exec(schema)
  return db
}

export function isBroken(error: unknown): boolean {
  return broken.has(sqliteCode(error))
}

/** The error code of SQLite; zero for other errors. */
export function sqliteCode(error: unknown): number {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === "number" ? code & 0xff : 0
}

function fallBack(path: string, error: unknown): DatabaseSync {
  Log.warn("An index file cannot be used; the index is kept in memory", { path, reason: errorText(error) })
  return openMemory()
}

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(path)
  try {
    db.exec(
      "pragma busy_timeout = 2000; pragma journal_mode = wal; pragma synchronous = normal; pragma mmap_size = 268435456",
    )
    const found = versionOf(db)
    if (found > format) throw new Error(`its format is ${found}, this program knows ${format}`)
    if (found === format) return check(db)
    if (found > 0 || hasTables(db)) {
      db.close()
      quarantine(path, `has format ${found}, this program writes ${format}`)
      return open(path)
    }
    return begin(db)
  } catch (error) {
    if (db.isOpen) db.close()
    throw error
  }
}

/** Creates the tables, unless another process has just done so. */
function begin(db: DatabaseSync): DatabaseSync {
  db.exec("begin immediate")
  if (versionOf(db) === 0) db.exec(schema)
  db.exec("commit")
  return db
}

/** Reads from each table, so that a broken one is noticed here and not during a search. */
function check(db: DatabaseSync): DatabaseSync {
  db.exec("select max(row) from documents; select max(row) from vectors; select rowid from words limit 1")
  return db
}

/** Moves the file away. An earlier quarantined file is replaced. */
function quarantine(path: string, why: string): void {
  const aside = `${path}.aside`
  try {
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true })
    renameSync(path, aside)
  } catch (error) {
    // Another process may have moved it already.
    if (errorCode(error) !== "ENOENT") throw error
  }
  Log.warn(`The file of an index ${why}; it was quarantined, and a new one is created`, { path, aside })
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("pragma user_version").get()?.user_version)
}

function hasTables(db: DatabaseSync): boolean {
  return db.prepare("select 1 from sqlite_master limit 1").get() !== undefined
}
