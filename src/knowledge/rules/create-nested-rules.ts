// The rules in the folders between a root and a file, found when somebody works there, without a scan of the tree. A file
// is read again only when it has changed. `findRuleFolders` does scan the tree: breadth first, bounded, without folders of
// dependencies and builds, and never through a link, so that there is no circle.
import { type Dirent, type Stats, statSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { type FileText, readDocument } from "#knowledge/index/read-document.ts"
import { isInside } from "#util/file/resolve-inside.ts"

export type RuleFile = FileText & { path: string }
type Known = { mtime: number; size: number; ino: number; file?: RuleFile }

export type Bounds = { folders: number; files: number }

const foreign = new Set(
  "node_modules bower_components vendor target dist build out coverage __pycache__ venv".split(" "),
)
/** The first one that exists in a folder is used. */
export const ruleNames: readonly string[] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]
export const maxRuleBytes = 32 << 10
const maxKnown = 2_000
const maxDepth = 64

/** `root` is a real path. `onProblem` is called once for each file that cannot be read. */
export function createNestedRules(config: { root: string; onProblem?: (error: unknown) => void }) {
  const { root } = config
  const known = new Map<string, Known>()

  /** The rules of all folders from the root, excluded, to the file, or to the folder itself. */
  function onWayTo(path: string): RuleFile[] {
    const target = resolve(root, path)
    if (!isInside(root, target)) return []
    const isFolder = stat(target)?.isDirectory()
    const folders: string[] = []
    for (let at = isFolder ? target : dirname(target); at !== root && isInside(root, at); at = dirname(at))
      folders.unshift(at)
    const places = new Set<string>()
    return folders.slice(0, maxDepth).flatMap((folder) => {
      const file = of(folder)
      // Two paths may lead to the same folder.
      if (!file || places.has(file.place) || dirname(file.place) === root) return []
      places.add(file.place)
      return [file]
    })
  }

  /** The instructions of one folder. */
  function of(folder: string): RuleFile | undefined {
    for (const name of ruleNames) {
      const file = read(join(folder, name))
      if (file?.text.trim()) return file
    }
    return undefined
  }

  function read(path: string): RuleFile | undefined {
    const now = stat(path)
    if (!now) {
      known.delete(path)
      return undefined
    }
    const { mtimeMs: mtime, size, ino } = now
    const before = known.get(path)
    if (before && before.mtime === mtime && before.size === size && before.ino === ino) return before.file
    const found: Known = { mtime, size, ino }
    try {
      found.file = { ...readDocument({ root, path, maxBytes: maxRuleBytes }), path }
    } catch (error) {
      config.onProblem?.(error)
    }
    known.set(path, found)
    if (known.size > maxKnown) known.delete(known.keys().next().value!)
    return found.file
  }

  return Object.freeze({ onWayTo, of })
}

export function isRuleName(path: string): boolean {
  return ruleNames.includes(basename(path))
}

function stat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

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

/** An unreadable folder counts as empty. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Only plain names of `.gitignore`: whole folders cost most of the time. */
async function ignoredIn(root: string): Promise<Set<string>> {
  const text = await readFile(join(root, ".gitignore"), "utf8").catch(() => "")
  const names = text
    .slice(0, 100_000)
    .split(/\r?\n/)
    .flatMap((line) => /^\/?([\w.-]+)\/?$/.exec(line.trim())?.[1] ?? [])
  return new Set([...foreign, ...names])
}
