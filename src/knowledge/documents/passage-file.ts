// Opens the database of a folder's passages. All of it can be made again: a broken file, or one of another format, is removed.
// Removed passages are overwritten: what is forgotten must not stay on the disk.
import { mkdirSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Log from "#kernel/process/log.ts"
import { tokenizer } from "#knowledge/index/index-file.ts"
import { errorText } from "#util/error.ts"

const format = 1
/** The passages of a file have rows in sequence, and so have its parts. */
const schema = `
  create table files (
    id integer primary key, path text not null unique, stamp text not null, unit text not null,
    first integer not null, last integer not null
  );
  create table parts (
    id integer primary key, file integer not null, first integer not null, last integer not null,
    embedder text not null, vector blob not null
  );
  create index file_of_row on files (first);
  create index parts_of on parts (file);
  create virtual table words using fts5 (name, text, more, place unindexed, tokenize = "${tokenizer}");
  insert into words (words, rank) values ('secure-delete', 1);
  pragma user_version = ${format};
`

export function openPassageFile(path: string | undefined): DatabaseSync {
  if (path === undefined) return begin(new DatabaseSync(":memory:"))
  try {
    return open(path)
  } catch (error) {
    Log.warn("the index of a folder of documents cannot be used and is made again", {
      path,
      reason: errorText(error),
    })
  }
  try {
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
    return open(path)
  } catch (error) {
    Log.warn("the index of a folder of documents is kept in memory", { path, reason: errorText(error) })
    return begin(new DatabaseSync(":memory:"))
  }
}

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(path, { timeout: 5_000 })
  try {
    db.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on")
    const found = versionOf(db)
    if (found === 0) return begin(db)
    if (found !== format) throw new Error(`its format is ${found}, this program writes ${format}`)
    // Reads from each table, so that a broken one is noticed here.
    db.exec("select max(id) from files; select max(id) from parts; select rowid from words limit 1")
    return db
  } catch (error) {
    db.close()
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

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("pragma user_version").get()?.user_version)
}
