// Resolves the words of a command as paths, from each folder that the command may run in. There may be a thousand words
// and ten folders, so a folder is read once, and of words that lead to the same verdict only one is resolved.
import { type Dirent, opendirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { realOf } from "#util/file/path-info.ts"

/** `real` is the real path. If the target does not exist, it is that of its folder, or `target` itself. */
type Reached = { target: string; real: string }
/** The entries of a folder, with names folded for file systems that ignore case. */
type Entries = Map<string, Dirent>
/** A path relative to a folder. `first` is its first name, folded. */
type RelativePath = { names: string[]; first: string; hasProtectedName: boolean }

/** For fewer words it is faster to look up each. */
const fewWords = 8
/** For a folder with more entries it is faster to look up each word. */
const maxEntries = 5_000

/**
 * Yields the paths that the words reach. `protectedNames` are the names, in lower case, that can make a path protected.
 * Words without such a name are alike if they start in the same folder and are of the same kind (existing, missing, below
 * a missing folder): only the first of them is yielded.
 */
export function* reachedPaths(options: {
  folders: string[]
  words: string[]
  protectedNames: ReadonlySet<string>
}): Generator<Reached> {
  const { folders, words, protectedNames } = options
  const byUps = new Map<string, RelativePath[]>()
  for (const word of new Set(words)) {
    const { ups, names } = readWord(word)
    addTo(byUps, ups, [relativePath(names)])
  }
  const starts = new Map<string, RelativePath[]>()
  for (const [ups, paths] of byUps)
    for (const folder of ups === "/" ? ["/"] : folders) addTo(starts, resolve(folder, ups), paths)
  for (const [start, paths] of starts) yield* reachedFrom(start, paths)

  function relativePath(names: string[]): RelativePath {
    const hasProtectedName = names.some((name) => protectedNames.has(name.toLowerCase()))
    return { names, first: folded(names[0] ?? ""), hasProtectedName }
  }

  function* reachedFrom(start: string, paths: RelativePath[]): Generator<Reached> {
    const entries = paths.length > fewWords ? entriesOf(start) : undefined
    const real = entries && realOf(start)
    const below = new Map<string, RelativePath[]>()
    const given = new Set<string>()
    for (const { names, first, hasProtectedName } of paths) {
      const entry = entries?.get(first)
      if (!entries) yield lookFor(join(start, names.join("/")))
      else if (entry && names.length > 1) addTo(below, names[0]!, [relativePath(names.slice(1))])
      else {
        const kind = kindOf(names, entry)
        if (kind !== "other" && !hasProtectedName && given.has(kind)) continue
        if (!hasProtectedName) given.add(kind)
        const target = join(start, names.join("/"))
        if (kind === "missing") yield { target, real: real ?? target }
        else if (kind === "below missing") yield { target, real: target }
        else yield lookFor(target)
      }
    }
    for (const [name, rests] of below) yield* reachedFrom(join(start, name), rests)
  }
}

/** The steps up, and the rest of the path. */
function readWord(word: string): { ups: string; names: string[] } {
  const isAbsolute = word.startsWith("/")
  const names: string[] = []
  let ups = 0
  for (const name of word.split("/")) {
    if (name === "" || name === ".") continue
    if (name !== "..") names.push(name)
    else if (names.pop() === undefined) ups++
  }
  return { ups: isAbsolute ? "/" : "../".repeat(ups), names }
}

function addTo(groups: Map<string, RelativePath[]>, key: string, paths: RelativePath[]): void {
  const group = groups.get(key)
  if (!group) groups.set(key, [...paths])
  else for (const path of paths) group.push(path)
}

function lookFor(target: string): Reached {
  return { target, real: realOf(target) ?? realOf(dirname(target)) ?? target }
}

/** Words of one kind are alike; "other" words may lead anywhere. */
function kindOf([name, ...rest]: string[], entry: Dirent | undefined) {
  if (name === undefined) return "start"
  if (!entry) return rest.length > 0 ? "below missing" : "missing"
  return entry.name === name && (entry.isFile() || entry.isDirectory()) ? "plain" : "other"
}

/** Undefined if the folder cannot be read. */
function entriesOf(folder: string): Entries | undefined {
  const entries: Entries = new Map()
  try {
    using open = opendirSync(folder)
    for (let entry = open.readSync(); entry; entry = open.readSync()) {
      if (entries.size >= maxEntries) return undefined
      entries.set(folded(entry.name), entry)
    }
    return entries
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENOENT" || code === "ENOTDIR" ? entries : undefined
  }
}

function folded(name: string): string {
  return name.normalize("NFD").toLowerCase()
}
