// The instructions that lie in the folders between a root and a file, found when somebody works there: no tree is
// scanned. A file is read again only when it has changed.
import { type Stats, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { type FileText, readDocument } from "#knowledge/index/read-document.ts"
import { isInside } from "#util/file/resolve-inside.ts"

export type RuleFile = FileText & { path: string }
type Known = { mtime: number; size: number; ino: number; file?: RuleFile }

/** The first that is in a folder counts. */
export const ruleNames: readonly string[] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]
export const maxRuleBytes = 32 << 10
const maxKnown = 2_000
const maxDepth = 64

/** `root` is a real path. `onProblem` hears of each file that cannot be read once. */
export function createNestedRules(config: { root: string; onProblem?: (error: unknown) => void }) {
  const { root } = config
  const known = new Map<string, Known>()

  /** From the root to the leaf, without the root itself. A folder counts as on its own way. */
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
      // A folder can have two names.
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
