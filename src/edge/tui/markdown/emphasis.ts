// Which runs of `*`, `_` and `~` open and close emphasis: the algorithm of CommonMark, linear in the number of runs.
// `__` stays text: names such as `__init__` are more common than bold text that is written so.
import type { Role } from "#edge/tui/screen/line.ts"
import type { Piece } from "./inline.ts"

type Run = { at: number; char: string; left: number; opens: boolean; closes: boolean; isGone?: boolean }
type Found = { mark: string; before: string; after: string }
export type Emphasis = Readonly<{
  /** The mark is the last piece. */
  add(found: Found): void
  size(): number
  /** Pairs the runs from index `from` on; they cannot be paired again. */
  resolve(from: number): void
}>

const word = /[\p{L}\p{N}]/u
const punctuation = /[\p{P}\p{S}]/u

export function createEmphasis(pieces: Piece[]): Emphasis {
  const runs: Run[] = []

  function add({ mark, before, after }: Found): void {
    const char = mark[0]!
    if ((char === "_" && mark.length > 1) || (char === "~" && mark.length > 2)) return
    const at = pieces.length - 1
    runs.push({
      at,
      char,
      left: mark.length,
      opens: opens(mark, before, after),
      closes: closes(mark, before, after),
    })
  }

  function resolve(from: number): void {
    const open: Run[] = []
    /** Below this height of the stack there is no opener for such a closer. */
    const bottom = new Map<string, number>()
    for (const run of runs.splice(from)) {
      while (run.closes && run.left > 0) {
        const kind = `${run.char}${run.char === "~" ? run.left : ""}`
        const found = findOpener(open, run, bottom.get(kind) ?? 0)
        if (found < 0) {
          bottom.set(kind, open.length)
          break
        }
        pair(open[found]!, run)
        open.length = found + (open[found]!.left > 0 ? 1 : 0)
        for (const [each, height] of bottom) if (height > open.length) bottom.set(each, open.length)
      }
      if (run.opens && run.left > 0) open.push(run)
    }
  }

  /** The roles begin behind the opener and end before the closer. */
  function pair(opener: Run, closer: Run): void {
    const isStrike = opener.char === "~"
    const used = isStrike ? opener.left : Math.min(2, opener.left, closer.left)
    const role: Role = isStrike ? "strike" : used === 2 ? "strong" : "emphasis"
    for (const run of [opener, closer]) {
      run.left -= used
      const piece = pieces[run.at]!
      piece.text = run.char.repeat(run.left)
      piece.begins ??= []
      piece.ends ??= []
    }
    pieces[opener.at]!.begins!.push(role)
    pieces[closer.at]!.ends!.push(role)
  }

  return Object.freeze({ add, size: () => runs.length, resolve })
}

function findOpener(open: readonly Run[], { char, left }: Run, bottom: number): number {
  for (let i = open.length - 1; i >= bottom; i--) {
    const run = open[i]!
    if (run.char === char && (char !== "~" || run.left === left)) return i
  }
  return -1
}

/** Stricter than CommonMark for one star: there, `src/*.ts, test/*` would have emphasis. */
function opens(mark: string, before: string, after: string): boolean {
  if (after.trim() === "") return false
  if (mark === "*" && after === ".") return false
  if (mark.length === 1 && word.test(before)) return false
  return !punctuation.test(after) || before.trim() === "" || (punctuation.test(before) && before !== "/")
}

function closes(mark: string, before: string, after: string): boolean {
  if (before.trim() === "") return false
  if (mark.length === 1 && word.test(after)) return false
  return !punctuation.test(before) || after.trim() === "" || punctuation.test(after)
}
