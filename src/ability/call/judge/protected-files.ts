// Tells whether a file is protected although no rule knows its path: a script of a skill in the configured folder, reviewed or
// not, or a hard link to a protected configuration file.

import { lstatSync, type Stats } from "node:fs"
import { readdir } from "node:fs/promises"
import { homedir } from "node:os"
import { join, relative, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { maxProgram } from "#kernel/reviewed/places.ts"
import { withImports } from "#kernel/reviewed/project-code.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorCode } from "#util/error.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { readPath } from "#util/wildcard.ts"

/** After this many entries the search stops and returns true, so that a person is asked. */
const maxEntries = 200_000

/** True if a real path is a script in the skill folder of the configuration. The rules protect scripts in the default
 * folders by their paths. */
export async function isSkillScript(path: string): Promise<boolean> {
  const root = (await Config.get()).skills?.root
  if (root === undefined) return false
  const named = resolve(Instance.worktree, root)
  const folder = realOf(named) ?? named
  if (!isInside(folder, path)) return false
  return relative(folder, path).split("/").slice(0, 2).includes("scripts")
}

/** Whether a script and everything that it imports from the project are reviewed. A missing script is not. */
export async function isReviewedScript(path: string): Promise<boolean> {
  const reviewed = await Reviewed.of(Instance.worktree)
  if (!reviewed.isTrusted) return false
  for (const file of withImports(path, reviewed.root)) {
    const bytes = await readSmallFile(file, undefined, maxProgram).catch(() => undefined)
    // A folder of skills may be a link to another one; the file was reviewed under either name.
    const names = [file, realOf(file) ?? file]
    if (!bytes || names.every((name) => reviewed.refusal(name, bytes) !== undefined)) return false
  }
  return true
}

/** Whether writing a file would change a protected configuration file too. `stat` is of the file that would be written; only
 * files with more than one hard link are searched for. */
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
