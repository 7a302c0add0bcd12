// Where the words of a command lead, from each folder that it visits. There may be a thousand words and ten folders,
// so each folder is read once, and one word stands for all that make no difference.
import { type Dirent, opendirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { realOf } from "#util/file/path-info.ts"

/** `real` is where it is, or would be created. */
type Reached = { target: string; real: string }
/** The entries of a folder, with names folded for file systems that ignore case. */
type Entries = Map<string, Dirent>
/** A path relative to its start. */
type Way = { names: string[]; first: string; isTelling: boolean }

/** For fewer words it is faster to look up each. */
const fewWords = 8
/** Reading a folder with more entries takes longer. */
const maxEntries = 5_000

/**
 * Yields the paths that the words reach. `telling` are the names, in lower case, by which the caller judges a path. Words
 * without such a name that start in the same folder, and exist there or not in the same way, make no difference: only the
 * first of them is yielded.
 */
export function* reachedPaths(options: {
  folders: string[]
  words: string[]
  telling: ReadonlySet<string>
}): Generator<Reached> {
  const { folders, words, telling } = options
  const byUps = new Map<string, Way[]>()
  for (const word of new Set(words)) {
    const { ups, names } = readWord(word)
    addTo(byUps, ups, [wayOf(names)])
  }
  const starts = new Map<string, Way[]>()
  for (const [ups, ways] of byUps)
    for (const folder of ups === "/" ? ["/"] : folders) addTo(starts, resolve(folder, ups), ways)
  for (const [start, ways] of starts) yield* reachedFrom(start, ways)

  function wayOf(names: string[]): Way {
    const isTelling = names.some((name) => telling.has(name.toLowerCase()))
    return { names, first: folded(names[0] ?? ""), isTelling }
  }

  function* reachedFrom(start: string, ways: Way[]): Generator<Reached> {
    const entries = ways.length > fewWords ? entriesOf(start) : undefined
    const real = entries && realOf(start)
    const below = new Map<string, Way[]>()
    const given = new Set<string>()
    for (const { names, first, isTelling } of ways) {
      const entry = entries?.get(first)
      if (!entries) yield lookFor(join(start, names.join("/")))
      else if (entry && names.length > 1) addTo(below, names[0]!, [wayOf(names.slice(1))])
      else {
        const kind = kindOf(names, entry)
        if (kind !== "other" && !isTelling && given.has(kind)) continue
        if (!isTelling) given.add(kind)
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

function addTo(groups: Map<string, Way[]>, key: string, ways: Way[]): void {
  const group = groups.get(key)
  if (!group) groups.set(key, [...ways])
  else for (const way of ways) group.push(way)
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
