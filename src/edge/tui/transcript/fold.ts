// Long output shows a few lines; the key that expands shows the rest.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"

/** What can be shown in full later. */
export type Folded = { title: string; lines(view: View): Line[] }
export type Shown = { lines: Line[]; folded?: Folded }

/** What the model gets for a command without output. */
export const noOutput = "(no output)"
const [head, tail] = [2, 3]
const maxShown = 6
const indent = "  "
const sequence =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g

/** The first and the last lines of a text. Colours of a command are dropped, and of a line that was overwritten the last
 * version is shown. */
export function foldText(title: string, text: string, view: View): Shown {
  const { columns, paint } = view
  const all = plainLines(text)
  const show = (line: string) => indent + paint("dim", cutTo(line, columns - indent.length))
  const folded = { title, lines: (given: View) => wholeLines(all, given) }
  if (all.length <= maxShown) {
    const isCut = all.some((line) => line.length > columns - indent.length)
    return { lines: all.map(show), ...(isCut ? { folded } : {}) }
  }
  const more = moreLine(all.length - head - tail, view)
  return { lines: [...all.slice(0, head).map(show), more, ...all.slice(-tail).map(show)], folded }
}

/** The first lines of a list that is longer than `most`. */
export function foldLines(
  title: string,
  lines: (view: View) => Line[],
  { view, most }: { view: View; most: number },
): Shown {
  const all = lines(view)
  if (all.length <= most) return { lines: all }
  const shown = all.slice(0, most - 1)
  return { lines: [...shown, moreLine(all.length - shown.length, view)], folded: { title, lines } }
}

function moreLine(count: number, view: View): Line {
  return view.paint("dim", cutTo(`${indent}… ${count} more lines${expandHint(view)}`, view.columns))
}

/** ` (ctrl+o)` */
export function expandHint({ expandKey }: View): string {
  return expandKey ? ` (${expandKey})` : ""
}

export function wholeLines(lines: readonly string[], { columns, paint }: View): Line[] {
  return lines.flatMap((line) =>
    wrapTo(line, columns - indent.length).map((part) => indent + paint("dim", part)),
  )
}

/** Half a sequence stays, and is escaped later. */
export function withoutSequences(text: string): string {
  return text.includes("\u001b") ? text.replace(sequence, "") : text
}

export function plainLines(text: string): string[] {
  const lines = withoutSequences(text)
    .trimEnd()
    .replace(/^(?:[ \t]*\r?\n)+/, "")
    .split(/\r?\n/)
  return lines[0] === "" && lines.length === 1
    ? []
    : lines.map((line) => safe(line.slice(line.lastIndexOf("\r") + 1)))
}
