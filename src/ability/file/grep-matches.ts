// Turns ripgrep's lines, which its threads print in any order, into the first matches sorted by path. Holds only
// about four times as many lines as are shown.

export type Group = { file: string; lines: string[] }
/** The groups that are shown, and the total count. */
export type Found = { groups: Group[]; total: number; files: number }
type Held = { lines: string[]; matches: number }

const maxName = 8_192

/** `accepts` filters files by path. Lines look like `path NUL 12:text`, context like `path NUL 11-text`. */
export function createMatches(options: { limit: number; accepts?: (file: string) => boolean }) {
  const { limit, accepts } = options
  let kept = new Map<string, Held>()
  let [held, total] = [0, 0]
  const files = new Set<string>()
  let beyond: string | undefined
  let begun: string | undefined
  let current: { file: string; found: Held | undefined } | undefined

  function add(piece: string) {
    const line = wholeLine(piece)
    if (line === undefined) return
    const nul = line.indexOf("\0")
    const file = line.startsWith("./") ? line.slice(2, nul) : line.slice(0, nul)
    if (current?.file !== file) current = { file, found: open(file) }
    const { found } = current
    if (!found) return
    const mark = /^\d+([:-])/.exec(line.slice(nul + 1, nul + 13))
    const isMatch = mark?.[1] === ":"
    if (isMatch) {
      total++
      found.matches++
      files.add(file)
    }
    if (found.matches > limit) return
    found.lines.push(line.slice(nul + 1))
    if (++held > 4 * limit + 1_000) prune()
  }

  /** A name may contain line ends. Below a folder all names start with "./", so a piece that does not continues the
   * one before it. */
  function wholeLine(piece: string): string | undefined {
    const before = begun
    begun = undefined
    const line = before !== undefined && !piece.startsWith("./") ? `${before}\n${piece}` : piece
    if (line.includes("\0")) return line
    if (piece === "--") separate()
    else if (line.startsWith("./")) begun = line.slice(0, maxName)
    return undefined
  }

  /** The separator between places of one file that do not touch. */
  function separate() {
    const lines = current?.found?.lines
    if (lines?.length && lines.at(-1) !== "--") lines.push("--")
  }

  function open(file: string): Held | undefined {
    if (accepts && !accepts(file)) return undefined
    let found = kept.get(file)
    if (!found) {
      found = { lines: [], matches: 0 }
      if (beyond === undefined || file <= beyond) kept.set(file, found)
    }
    return found
  }

  /** Files after the first `limit` matches are never shown. */
  function prune() {
    const sorted = [...kept].sort(([a], [b]) => (a < b ? -1 : 1))
    let seen = 0
    held = 0
    kept = new Map()
    for (const [file, found] of sorted) {
      kept.set(file, found)
      held += found.lines.length
      seen += found.matches
      beyond = file
      if (seen >= limit) return
    }
    beyond = undefined
  }

  function list(): Found {
    const sorted = [...kept].sort(([a], [b]) => (a < b ? -1 : 1))
    const groups: Group[] = []
    let left = limit
    for (const [file, { lines }] of sorted) {
      if (left <= 0) break
      const shown = upTo(lines, left)
      left -= shown.filter(isMatchLine).length
      if (shown.length) groups.push({ file, lines: shown })
    }
    return { groups, total, files: files.size }
  }

  return Object.freeze({ add, list })
}

export function countMatches(groups: Group[]): number {
  return groups.reduce((sum, { lines }) => sum + lines.filter(isMatchLine).length, 0)
}

/** The lines of the first `matches` matches, with the context of the last one. */
function upTo(lines: string[], matches: number): string[] {
  let count = 0
  const end = lines.findIndex((line) =>
    isMatchLine(line) ? ++count > matches : line === "--" && count >= matches,
  )
  const shown = end < 0 ? lines : lines.slice(0, end)
  return shown.at(-1) === "--" ? shown.slice(0, -1) : shown
}

function isMatchLine(line: string): boolean {
  return /^\d+:/.test(line)
}
