// Removes the files of indexes that nobody needs: of folders that are gone, or that were not worked in for sixty days. They
// can all be made again. Done once a day, a bounded number at a time, and never to a file that somebody has open.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { isBroken } from "./index-file.ts"
import { day, usedEnd } from "./note-index-use.ts"

const maxAge = 60 * day
const maxLooked = 500
const maxRemoved = 20
const end = ".db"

/** `folder` is where the files of indexes are. What fails is left for another day. */
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

/** Not every day the same ones, where there are very many. */
function turned(names: string[], now: number): string[] {
  const from = (Math.floor(now / day) * maxLooked) % Math.max(1, names.length)
  return [...names.slice(from), ...names.slice(0, from)].slice(0, maxLooked)
}

function isStale(path: string, now: number): boolean {
  const used = statOf(path + usedEnd)
  if (used) return now - used.mtimeMs > maxAge || isGone(readFileSync(path + usedEnd, "utf8"))
  // Made before it was noted whose it is.
  const written = [path, `${path}-wal`].map((file) => statOf(file)?.mtimeMs ?? 0)
  return now - Math.max(...written) > maxAge
}

/** What cannot be seen for another reason may be there. */
function isGone(folder: string): boolean {
  try {
    statSync(folder)
    return false
  } catch (error) {
    return errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR"
  }
}

/** All files of an index, unless one of its databases is open somewhere. Nobody can open one while they go. */
function remove(folder: string, names: string[]): boolean {
  const paths = names.map((name) => join(folder, name))
  const databases = paths.filter(isDatabase)
  const held: DatabaseSync[] = []
  try {
    for (const path of databases) hold(path, held)
    // What belongs to a database goes before it: the next one of this name must not find it. To hold one may make it.
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

/** Throws where another connection has it open: in this mode there can be no other. A broken one nobody uses. */
function hold(path: string, held: DatabaseSync[]): void {
  const db = new DatabaseSync(path, { timeout: 0 })
  held.push(db)
  try {
    db.exec("pragma locking_mode = exclusive; begin exclusive")
  } catch (error) {
    if (!isBroken(error)) throw error
  }
}
