// Lists the files of a folder that has neither a repository nor ignore files, without a git process.
import { readdirSync } from "node:fs"
import { join } from "node:path"

/** If there are more files, or ignore files, git lists them. */
const maxFiles = 5_000
const rules = new Set([".git", ".gitignore"])

/** Undefined if git must list the files. */
export function walkPlain(root: string): string[] | undefined {
  const found: string[] = []
  const isPlain = addFolder(root, "", found)
  return isPlain ? found : undefined
}

function addFolder(root: string, folder: string, found: string[]): boolean {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    // The placeholder of a sandbox. It is no repository for git either.
    if (entry.name === ".git" && entry.isDirectory() && isEmpty(join(root, path))) continue
    if (rules.has(entry.name) || found.length > maxFiles) return false
    if (entry.isDirectory()) {
      if (!addFolder(root, path, found)) return false
    } else if (entry.isFile() || entry.isSymbolicLink()) found.push(path)
  }
  return true
}

function isEmpty(folder: string): boolean {
  return readdirSync(folder).length === 0
}
