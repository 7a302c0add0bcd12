// The files of a folder that is no repository and ignores nothing, without a git process.
import { readdirSync } from "node:fs"
import { join } from "node:path"

/** Beyond this, or where a rule says what to leave out, git is the better judge. */
const maxFiles = 5_000
const rules = new Set([".git", ".gitignore"])

/** Undefined where it takes more than a plain walk. */
export function walkPlain(root: string): string[] | undefined {
  const found: string[] = []
  const isPlain = addFolder(root, "", found)
  return isPlain ? found : undefined
}

function addFolder(root: string, folder: string, found: string[]): boolean {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (rules.has(entry.name) || found.length > maxFiles) return false
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (entry.isDirectory()) {
      if (!addFolder(root, path, found)) return false
    } else if (entry.isFile() || entry.isSymbolicLink()) found.push(path)
  }
  return true
}
