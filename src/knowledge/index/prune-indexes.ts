// Removes the index files of folders that are gone or were not used for sixty days. All of them can be rebuilt. Runs once
// a day, for a bounded number of files, and never for a file that a process has open.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText, isMissing } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { day, usedEnd } from "./note-index-use.ts"
import { isBroken } from "./open-database.ts"

const maxAge = 60 * day
const maxScanned = 500
const maxRemoved = 20
const end = ".db"

/** `folder` holds the index files. After a failure, the next day tries again. */
export function pruneIndexes(folder: string): void {
  try {
    const now = Date.now()
    const stamp = join(folder, "pruned")
    if (now - (statOf(stamp)?.mtimeMs ?? 0) < day) return
    writeFileSync(stamp, "", { mode: 0o600 })
    const names = readdirSync(folder)
    let removed = 0
    for (const name of turned(
      names.filter((one) => one.endsWith(end)),
      now,
    )) {
      if (removed === maxRemoved) break
      if (
        isStale(join(folder, name), now) &&
        remove(
          folder,
          names.filter((one) => one.startsWith(name)),
        )
      )
        removed++
    }
  } catch (error) {
    // Without the folder there is nothing to remove.
    if (errorCode(error) !== "ENOENT")
      Log.debug("indexes are not pruned", { folder, error: errorText(error) })
  }
}

/** If there are too many, other files are checked each day. */
function turned(names: string[], now: number): string[] {
  const from = (Math.floor(now / day) * maxScanned) % Math.max(1, names.length)
  return [...names.slice(from), ...names.slice(0, from)].slice(0, maxScanned)
}

function isStale(path: string, now: number): boolean {
  const used = statOf(path + usedEnd)
  if (used) return now - used.mtimeMs > maxAge || isGone(readFileSync(path + usedEnd, "utf8"))
  // From a version that did not note the use.
  const written = [path, `${path}-wal`].map((file) => statOf(file)?.mtimeMs ?? 0)
  return now - Math.max(...written) > maxAge
}

/** Whether a folder certainly does not exist. */
function isGone(folder: string): boolean {
  try {
    statSync(folder)
    return false
  } catch (error) {
    return isMissing(error)
  }
}

/** Removes all files of an index, unless a database is open somewhere. Nobody can open one meanwhile. */
function remove(folder: string, names: string[]): boolean {
  const paths = names.map((name) => join(folder, name))
  const databases = paths.filter(isDatabase)
  const held: DatabaseSync[] = []
  try {
    for (const path of databases) lock(path, held)
    // WAL files go before their database, so that the next database of this name does not find them. Locking may create
    // them.
    const beside = databases.flatMap((path) => [`${path}-wal`, `${path}-shm`])
    for (const path of [...beside, ...paths]) rmSync(path, { force: true })
    Log.debug("the files of an index that nobody uses were removed", { folder, names })
    return true
  } catch (error) {
    Log.debug("the files of an index stay", { folder, names, error: errorText(error) })
    return false
  } finally {
    for (const db of held) db.close()
  }
}

function isDatabase(path: string): boolean {
  return !/(?:-wal|-shm|-journal|\.aside|\.used)$/.test(path)
}

/** Throws if another connection has the database open: this mode allows only one. A broken database is not in use. */
function lock(path: string, held: DatabaseSync[]): void {
  const db = new DatabaseSync(path, { timeout: 0 })
  held.push(db)
  try {
    db.exec("pragma locking_mode = exclusive; begin exclusive")
  } catch (error) {
    if (!isBroken(error)) throw error
  }
}
