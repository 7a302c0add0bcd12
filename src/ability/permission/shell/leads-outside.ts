// Finds repositories that make git read files outside of them. A repository inside the workspace may still have links,
// alternates or included configuration that lead out of it.
import { accessSync, constants, type Dirent, lstatSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Repository } from "#kernel/vcs.ts"
import { realOf, textOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** Not checked: reading git commands run no hooks, and people link hooks to files of the work tree. */
const hooks = "hooks"
/** Folders whose content is not checked, because reading git commands show nothing of it. */
const closed = new Set([hooks, "annex", "lfs", "modules", "worktrees"])
const maxEntries = 50_000

/** `folder` is where git starts. Also true if git might find another repository from there. */
export function leadsOutside(repository: Repository, folder: string): boolean {
  const { gitDir, commonDir } = repository
  return (
    !isFoundFrom(folder, repository) ||
    new Set([gitDir, commonDir]).values().some((path) => hasLinks(path, repository)) ||
    ["alternates", "http-alternates"].some((name) => textOf(join(commonDir, "objects/info", name))?.trim()) ||
    configs(repository).some((text) => /\[\s*(include|mailmap)/i.test(text))
  )
}

/** Whether a setting names a file that `git blame` reads. Its error messages quote the file, and an empty value does
 * not turn the setting off. */
export function namesFileForBlame(repository: Repository): boolean {
  return configs(repository).some((text) => /ignorerevsfile/i.test(text))
}

/** Whether git finds this repository from a folder. Git accepts repositories that we do not: with a name that is not
 * UTF-8, with a linked HEAD, or bare ones. If it does not accept a `.git`, it goes on to the parent folder. */
function isFoundFrom(folder: string, { worktree, gitDir, commonDir }: Repository): boolean {
  for (let path = folder; path !== worktree; path = dirname(path))
    if (path === dirname(path) || [".git", "HEAD"].some((name) => typeAt(join(path, name)))) return false
  const names = [join(worktree, ".git"), join(gitDir, "commondir")].map(textOf)
  if (names.some((text) => text?.includes("\ufffd"))) return false
  const head = join(gitDir, "HEAD")
  if (typeAt(head) !== "file" || !/^(ref: refs\/|[0-9a-f]{40})/.test(textOf(head) ?? "")) return false
  return ["objects", "refs"].every((name) => isOpenFolder(join(commonDir, name)))
}

/** Whether a link in a folder of a repository leads out of the repository. Also true if not all links can be checked. */
function hasLinks(root: string, { gitDir, commonDir }: Repository): boolean {
  const waiting = [root]
  let count = 0
  for (const folder of waiting) {
    const entries = entriesOf(folder)
    count += entries?.length ?? maxEntries
    if (!entries || count > maxEntries) return true
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const isClosed = folder === root && closed.has(entry.name)
      if (entry.isDirectory() && !isClosed) waiting.push(path)
      if (!entry.isSymbolicLink() || (isClosed && entry.name === hooks)) continue
      const real = realOf(path)
      if (real === undefined || ![gitDir, commonDir].some((own) => isInside(own, real))) return true
    }
  }
  return false
}

function configs({ gitDir, commonDir }: Repository): string[] {
  const files = [gitDir, commonDir].flatMap((path) => [join(path, "config"), join(path, "config.worktree")])
  return files.map((file) => textOf(file) ?? "")
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}

function typeAt(path: string): "file" | "other" | undefined {
  try {
    return lstatSync(path).isFile() ? "file" : "other"
  } catch {
    return undefined
  }
}

function isOpenFolder(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return lstatSync(path).isDirectory()
  } catch {
    return false
  }
}
