// Long output shows a few lines; the key that expands shows the rest.
import type { ToolResultMessage } from "#client/client.ts"
import { withColors } from "#client/with-colors.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf, wrapTo } from "#edge/tui/screen/width.ts"

/** What can be shown in full later. */
export type Folded = { title: string; lines(view: View): Line[] }
type Colors = ToolResultMessage["data"]["colors"]
export type Shown = { lines: Line[]; folded?: Folded }

/** What the model gets for a command without output. */
export const noOutput = "(no output)"
const [head, tail] = [2, 3]
const maxShown = 6
const indent = "  "
const reset = "\u001b[0m"
const sequence =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g

/** The first and the last lines of a text, with the colours that a command gave it. Sequences in the text are dropped, and of a
 * line that was overwritten the last version is shown. */
export function foldText(title: string, text: string, view: View, colors?: Colors): Shown {
  const { columns } = view
  const width = columns - indent.length
  const linesFor = (given: View) => coloredLines(text, colors, given) ?? dimLines(plainLines(text), given)
  const all = linesFor(view)
  const show = (line: Line) => indent + cutTo(line, width)
  const folded = {
    title,
    lines: (given: View) =>
      linesFor(given).flatMap((line) =>
        wrapTo(line, given.columns - indent.length).map((part) => indent + part),
      ),
  }
  if (all.length <= maxShown) {
    const isCut = all.some((line) => widthOf(line) > width)
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

function dimLines(lines: readonly string[], { paint }: View): Line[] {
  return lines.map((line) => paint("dim", line))
}

/** Undefined if there are none, or if the terminal shows none. */
function coloredLines(text: string, colors: Colors, { depth = 1, paint }: View): Line[] | undefined {
  if (!colors?.length || depth === 1 || /[\u001b\r]/.test(text)) return undefined
  const blank = /^(?:[ \t]*\n)*/.exec(text)![0].length
  const body = text.slice(blank).trimEnd()
  const marks = colors.map(([at, style]) => [Math.max(0, at - blank), style])
  let style = ""
  return withColors(body, marks)
    .split("\n")
    .map((line) =>
      line
        .split(/\u001b\[0;?([\d;]*)m/)
        .map((part, i) => {
          if (i % 2) style = within(part, depth)
          if (i % 2 || part === "") return ""
          return style ? `\u001b[${style}m${safe(part)}${reset}` : paint("dim", safe(part))
        })
        .join(""),
    )
}

/** Colours that the terminal does not have are left out. */
function within(style: string, depth: number): string {
  const absent =
    depth === 24 ? /^$/ : depth === 8 ? /[34]8;2(?:;\d+){3};?/g : /[34]8;(?:2(?:;\d+){3}|5;\d+);?/g
  return style.replace(absent, "").replace(/;$/, "")
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
