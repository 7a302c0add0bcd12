// The files with rules below a root, found by walking its folders: the nearest first, in a bounded number of them, without
// those that hold what others made, and never through a link, so that there is no circle.
import type { Dirent } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { ruleNames } from "./create-nested-rules.ts"

export type Bounds = { folders: number; files: number }

const foreign = new Set(
  "node_modules bower_components vendor target dist build out coverage __pycache__ venv".split(" "),
)

/** Folders that have a file with rules, without the root, and whether the bounds ended the search. */
export async function findRuleFolders(
  root: string,
  bounds: Bounds,
): Promise<{ folders: string[]; isCut: boolean }> {
  const ignored = await ignoredIn(root)
  const found: string[] = []
  const waiting = [root]
  for (let i = 0; i < waiting.length; i++) {
    if (i >= bounds.folders || found.length >= bounds.files) return { folders: found, isCut: true }
    const folder = waiting[i]!
    const entries = await entriesOf(folder)
    if (folder !== root && entries.some(({ name }) => ruleNames.includes(name))) found.push(folder)
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith(".") && !ignored.has(entry.name))
        waiting.push(join(folder, entry.name))
  }
  return { folders: found, isCut: false }
}

/** What cannot be read has no rules for anybody. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Only plain names: whole folders are what costs time. */
async function ignoredIn(root: string): Promise<Set<string>> {
  const text = await readFile(join(root, ".gitignore"), "utf8").catch(() => "")
  const names = text
    .slice(0, 100_000)
    .split(/\r?\n/)
    .flatMap((line) => /^\/?([\w.-]+)\/?$/.exec(line.trim())?.[1] ?? [])
  return new Set([...foreign, ...names])
}
