// Detects a hard link to a protected configuration file: writing the link would change that file too. Only files with more
// than one hard link are checked.
import { lstatSync, type Stats } from "node:fs"
import { readdir } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { errorCode } from "#util/error.ts"
import { readPath } from "#util/wildcard.ts"

/** After this many entries the search stops and returns true, so that a person is asked. */
const maxEntries = 200_000

/** `stat` is of the file that would be written. */
export async function isLinkToProtected(stat: Stats | undefined): Promise<boolean> {
  if (!stat?.isFile() || stat.nlink < 2) return false
  const roots = [Instance.worktree, Global.config(), Global.data(), Global.state()]
  // Only the files directly in the home folder: its subfolders would take too long.
  const waiting = [{ folder: homedir(), isDeep: false }, ...roots.map((folder) => ({ folder, isDeep: true }))]
  let seen = 0
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { folder, isDeep } = next
    for (const entry of await entriesOf(folder)) {
      if (++seen > maxEntries) return true
      const path = join(folder, entry.name)
      if (entry.isDirectory() && isDeep && !isContent(path)) waiting.push({ folder: path, isDeep })
      if (entry.isFile() && Permission.isOwnConfiguration(readPath(path)) && isSame(path, stat)) return true
    }
  }
  return false
}

/** Folders without protected files: git objects, and packages in `node_modules` (but not `.bin`). */
function isContent(path: string): boolean {
  return path.endsWith("/.git/objects") || /\/node_modules\/(?!\.bin$)[^/]+$/.test(path)
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errorCode(error) ?? "")) return []
    throw error
  }
}

function isSame(path: string, { dev, ino }: Stats): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.dev === dev && found.ino === ino
}
