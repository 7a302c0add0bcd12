// The styles of a program's output, beside its text. The text has no escape sequences: a style is a place in the text and
// SGR codes, so a model never sees one, and a secret cannot hide between two. Places move with the text: first they count
// bytes of the clean output, then of the redacted one, at last characters of the text that is shown.
import type { Cut } from "#ability/call/output.ts"
import { createSgr, type Sgr } from "./sgr.ts"

/** From this character of the text on, its style as SGR codes; `""` is plain. */
export type Colors = [at: number, sgr: Sgr][]
type Mark = { at: number; sgr: Sgr }

/** Styles at the beginning of an output, and at its end. Those between them are dropped. */
const half = 1_500
const longestParameters = 100

export function createColors() {
  const state = createSgr()
  /** Places in the clean output, of which `taken` bytes were redacted. */
  const waiting: Mark[] = []
  let taken = 0
  /** Places in the redacted output since the last part, of which `written` bytes are known. */
  let placed: Mark[] = []
  let written = 0
  let current: Sgr = ""

  /** The program changes its style. */
  function add(at: number, parameters: string): void {
    if (parameters.length <= longestParameters) set(at, state.apply(parameters))
  }

  /** The text behind this place is written again. */
  function rewind(at: number): void {
    const last = waiting.at(-1)
    if (last && last.at > at) set(at, last.sgr)
  }

  function set(at: number, sgr: Sgr): void {
    while (waiting.length && waiting.at(-1)!.at >= at) waiting.pop()
    if ((waiting.at(-1)?.sgr ?? current) !== sgr) waiting.push({ at, sgr })
  }

  /** The next `length` bytes of the clean output became `size` bytes: as they were, or a label for a secret. */
  function place(length: number, size: number): void {
    const end = taken + length
    let count = 0
    while (count < waiting.length && waiting[count]!.at < end) count++
    for (const { at, sgr } of waiting.splice(0, count)) {
      const inside = at - taken
      put(placed, { at: written + (length === size ? inside : inside === 0 ? 0 : size), sgr })
      current = sgr
    }
    if (placed.length > 3 * half) drop()
    taken = end
    written += size
  }

  /** Keeps memory bounded. The dropped part is plain. */
  function drop(): void {
    const [first] = placed.splice(half, placed.length - 2 * half)
    placed.splice(half, 0, { at: first!.at, sgr: "" })
  }

  /** The styles of the text that was shown since the last part. A style that is on continues in the next one. */
  function take(text: string, cut?: Cut): Colors | undefined {
    if (current) put(placed, { at: written, sgr: "" })
    const marks = cut ? aroundCut(placed, cut) : placed
    placed = current ? [{ at: 0, sgr: current }] : []
    written = 0
    return marks.some(({ sgr }) => sgr) ? inCharacters(marks, text) : undefined
  }

  return Object.freeze({ add, rewind, place, take })
}

/** The last of several styles at one place counts. */
function put(marks: Mark[], mark: Mark): void {
  while (marks.length && marks.at(-1)!.at >= mark.at) marks.pop()
  marks.push(mark)
}

/** The note in place of what was cut is plain. Behind it, the text has the style that it had there. */
function aroundCut(marks: readonly Mark[], { from, to, note }: Cut): Mark[] {
  const before = marks.filter(({ at }) => at < from)
  const behind = marks.filter(({ at }) => at >= from)
  return [
    ...before,
    { at: from, sgr: "" },
    { at: from + note, sgr: before.at(-1)?.sgr ?? "" },
    ...behind.map(({ at, sgr }) => ({ at: Math.max(at, to) - to + from + note, sgr })),
  ]
}

/** Undefined if bytes were not UTF-8: the text has other bytes in their place. */
function inCharacters(marks: readonly Mark[], text: string): Colors | undefined {
  if (text.includes("\uFFFD")) return undefined
  const bytes = Buffer.from(text)
  const colors: Colors = []
  let [from, units] = [0, 0]
  for (let { at, sgr } of marks) {
    while ((bytes[at]! & 0xc0) === 0x80) at++
    units += bytes.toString("utf8", from, at).length
    from = at
    const last = colors.at(-1)
    if (last?.[0] === units) last[1] = sgr
    else if ((last?.[1] ?? "") !== sgr) colors.push([units, sgr])
  }
  return colors
}
