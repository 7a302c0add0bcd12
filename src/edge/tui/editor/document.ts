// The text of the editor: lines of units. A unit is what a person sees as one character, or a marker that stands for a paste
// or an image. Lines are never changed in place, so that undo, the kill ring and cached rows can share them.
import { clustersOf } from "#edge/tui/screen/width.ts"

/** `label` is shown, `text` is sent. `image`: the path of an attachment. */
export type Marker = Readonly<{ label: string; text: string; image?: string }>
export type Unit = string | Marker
export type TextLine = readonly Unit[]
export type Fragment = readonly TextLine[]
/** Before the unit `at` of a line. */
export type Place = Readonly<{ line: number; at: number }>
export type Document = Readonly<{ lines: Fragment; caret: Place }>

export const empty: Document = { lines: [[]], caret: { line: 0, at: 0 } }
const isPlain = /^[\x20-\x7e]*$/

/** The caret is at the end. */
export function documentOf(text: string): Document {
  const lines = fragmentOf(text)
  return { lines, caret: endOf(lines) }
}

export function fragmentOf(text: string): Fragment {
  return text.split("\n").map((line) => (isPlain.test(line) ? line.split("") : clustersOf(line)))
}

export function textOf(lines: Fragment, show: (marker: Marker) => string = ({ text }) => text): string {
  return lines
    .map((line) => line.map((unit) => (typeof unit === "string" ? unit : show(unit))).join(""))
    .join("\n")
}

export function markersOf(lines: Fragment): Marker[] {
  return lines.flatMap((line) => line.filter((unit) => typeof unit !== "string"))
}

export function isEmpty({ lines }: Document): boolean {
  return lines.length === 1 && lines[0]!.length === 0
}

export function insert({ lines, caret }: Document, added: Fragment): Document {
  const line = lines[caret.line]!
  const [left, right] = [line.slice(0, caret.at), line.slice(caret.at)]
  const first = join(left, added[0]!)
  if (added.length === 1) {
    const whole = join(first, right)
    const at = Math.min(first.length, whole.length)
    return { lines: lines.with(caret.line, whole), caret: { line: caret.line, at } }
  }
  const last = added.at(-1)!
  const replaced = [first, ...added.slice(1, -1), join(last, right)]
  const after = { line: caret.line + added.length - 1, at: last.length }
  return { lines: [...lines.slice(0, caret.line), ...replaced, ...lines.slice(caret.line + 1)], caret: after }
}

/** Removes the text between two places, given in any order. The caret is then where the text was. */
export function remove({ lines }: Document, one: Place, other: Place): Document {
  const [from, to] = isBefore(other, one) ? [other, one] : [one, other]
  const left = lines[from.line]!.slice(0, from.at)
  const whole = join(left, lines[to.line]!.slice(to.at))
  return {
    lines: [...lines.slice(0, from.line), whole, ...lines.slice(to.line + 1)],
    caret: { line: from.line, at: Math.min(from.at, whole.length) },
  }
}

export function between({ lines }: Document, one: Place, other: Place): Fragment {
  const [from, to] = isBefore(other, one) ? [other, one] : [one, other]
  if (from.line === to.line) return [lines[from.line]!.slice(from.at, to.at)]
  return [
    lines[from.line]!.slice(from.at),
    ...lines.slice(from.line + 1, to.line),
    lines[to.line]!.slice(0, to.at),
  ]
}

export function isBefore(one: Place, other: Place): boolean {
  return one.line < other.line || (one.line === other.line && one.at < other.at)
}

export function endOf(lines: Fragment): Place {
  return { line: lines.length - 1, at: lines.at(-1)!.length }
}

/** Two parts of a line. What meets may be one character: a letter and its accent, the parts of an emoji. */
function join(left: TextLine, right: TextLine): TextLine {
  const [last, first] = [left.at(-1), right[0]]
  if (typeof last !== "string" || typeof first !== "string") return left.concat(right)
  if (isPlain.test(last) && isPlain.test(first)) return left.concat(right)
  // The second may join with what the first has become.
  const second = typeof right[1] === "string" ? right[1] : ""
  return [...left.slice(0, -1), ...clustersOf(last + first + second), ...right.slice(second ? 2 : 1)]
}
