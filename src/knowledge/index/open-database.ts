// Opens an SQLite file whose content can be made again. A broken file, or one of an older format, is replaced; if no file
// can be used, the tables are in memory. Each case is logged.
import { mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"

export type Layout = {
  /** Written into the file. A file with a lower one is replaced, and one with a higher one is left alone. */
  format: number
  /** Creates the tables. */
  schema: string
  pragmas: string
  /** Reads from each table, so that a broken one is noticed here and not during a search. */
  probe: string
  /** Whether a replaced file is quarantined; otherwise it is deleted. */
  keepsReplaced: boolean
}

export const inMemory = ":memory:"
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const broken = new Set([11, 26])

export function openDatabase(path: string, layout: Layout): DatabaseSync {
  if (path === inMemory) return openMemory(layout)
  try {
    return open(path, layout)
  } catch (error) {
    return isBroken(error) ? replaceDatabase(path, layout) : fallBack(path, layout, error)
  }
}

/** Replaces a broken file by a new one. */
export function replaceDatabase(path: string, layout: Layout): DatabaseSync {
  try {
    replace(path, layout, "is broken")
    return open(path, layout)
  } catch (error) {
    return fallBack(path, layout, error)
  }
}

export function openMemory({ schema }: Layout): DatabaseSync {
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

function fallBack(path: string, layout: Layout, error: unknown): DatabaseSync {
  Log.warn("An index file cannot be used; the index is kept in memory", { path, reason: errorText(error) })
  return openMemory(layout)
}

function open(path: string, layout: Layout): DatabaseSync {
  const { format, schema, pragmas, probe } = layout
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(path, { timeout: 5_000 })
  try {
    db.exec(`pragma journal_mode = wal; pragma synchronous = normal; ${pragmas}`)
    const found = versionOf(db)
    if (found > format) throw new Error(`its format is ${found}, this program knows ${format}`)
    if (found === format) {
      db.exec(probe)
      return db
    }
    if (found > 0 || hasTables(db)) {
      db.close()
      replace(path, layout, `has format ${found}, this program writes ${format}`)
      return open(path, layout)
    }
    return begin(db, schema, format)
  } catch (error) {
    if (db.isOpen) db.close()
    throw error
  }
}

/** Creates the tables, unless another process has just done so. */
function begin(db: DatabaseSync, schema: string, format: number): DatabaseSync {
  db.exec("begin immediate")
  if (versionOf(db) === 0) db.exec(`${schema}; pragma user_version = ${format}`)
  db.exec("commit")
  return db
}

/** Moves the file away, or deletes it. An earlier quarantined file is replaced. */
function replace(path: string, { keepsReplaced }: Layout, why: string): void {
  const aside = `${path}.aside`
  try {
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true })
    if (keepsReplaced) renameSync(path, aside)
    else rmSync(path, { force: true })
  } catch (error) {
    // Another process may have moved it already.
    if (errorCode(error) !== "ENOENT") throw error
  }
  const how = keepsReplaced ? "quarantined" : "deleted"
  Log.warn(`The file of an index ${why}; it was ${how}, and a new one is created`, {
    path,
    ...(keepsReplaced ? { aside } : {}),
  })
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("pragma user_version").get()?.user_version)
}

function hasTables(db: DatabaseSync): boolean {
  return db.prepare("select 1 from sqlite_master limit 1").get() !== undefined
}
