// The rows of the editor as the screen shows them: the prompt sign, the text around the caret, and a list below.
import type { Line, Paint } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf } from "#edge/tui/screen/width.ts"
import type { Choice } from "./completion.ts"
import type { Document } from "./document.ts"
import { cellOf, heightOf, rowsFrom, shownUnit, withBase } from "./rows.ts"
import type { Search } from "./search.ts"

export type EditorView = { lines: Line[]; caret: { row: number; column: number } }
type Size = { columns: number; rows: number; paint: Paint }

const sign = "> "
const searchLabel = "search: "
const maxChoices = 8

/** The columns that text may take. */
export function textWidth(columns: number): number {
  return Math.max(2, columns - sign.length)
}

/** `top`: the first row that was shown last time, so that text scrolls only if the caret leaves it. */
export function viewText(document: Document, top: number, { columns, rows, paint }: Size) {
  const width = textWidth(columns)
  const cell = cellOf(document, width)
  const lowest = Math.max(0, heightOf(document, width) - rows)
  const first = Math.min(Math.max(Math.min(top, cell.row), cell.row - rows + 1), lowest)
  const isShell = document.lines[0]![0] === "!"
  const lines = rowsFrom(document, width, first, rows).map(({ line, start, end }, at) => {
    const units = document.lines[line]!.slice(start, end)
    const text = units.map((unit) => {
      const shown = shownUnit(unit, width)
      return typeof unit === "string" ? shown : paint("accent", shown)
    })
    const row = text.join("")
    const isOver = units.at(-1) === " " && widthOf(row) > width
    const lead = first + at === 0 ? paint(isShell ? "warning" : "accent", sign) : " ".repeat(sign.length)
    return lead + (isOver ? row.slice(0, -1) : row)
  })
  return { lines, top: first, caret: { row: cell.row - first, column: sign.length + cell.column } }
}

/** At most as many rows as fit, around the selected one. */
export function viewChoices(choices: readonly Choice[], selected: number, size: Size): Line[] {
  const { columns, paint } = size
  const rows = Math.min(maxChoices, size.rows, choices.length)
  const first = Math.max(0, Math.min(selected - Math.floor(rows / 2), choices.length - rows))
  const shown = choices.slice(first, first + rows)
  const widest = Math.min(Math.max(...shown.map(({ value }) => widthOf(safeLine(value)))), columns >> 1)
  return shown.map(({ value, about }, at) => {
    const name = safeLine(value)
    const isSelected = first + at === selected
    const gap = " ".repeat(Math.max(0, widest - widthOf(name)) + 2)
    const described = about ? `${gap}${paint("dim", safeLine(about))}` : ""
    return cutTo(
      `${isSelected ? paint("accent", "› ") : "  "}${isSelected ? paint("strong", name) : name}${described}`,
      columns,
    )
  })
}

/** The query with the caret, and below it the prompt that was found. */
export function viewSearch({ query, match }: Search, { columns, rows, paint }: Size): EditorView {
  const label = columns > 2 * searchLabel.length ? searchLabel : ""
  const shownQuery = tailOf(withBase(safe(query)), columns - label.length - 1)
  const caret = { row: 0, column: label.length + widthOf(shownQuery) }
  const head = paint("accent", label) + shownQuery
  if (!match)
    return { lines: [head, ...(query && rows > 1 ? [paint("dim", cutTo("no match", columns))] : [])], caret }
  const { text, at } = match
  // The match must be visible in a long prompt.
  const lineStart = text.lastIndexOf("\n", at - 1) + 1
  const isWide = at - lineStart + query.length >= columns
  const from = isWide ? Math.max(lineStart, at - (columns >> 2)) : lineStart
  const before = `${from > 0 ? "…" : ""}${text.slice(from, at)}`
  const [first = "", ...more] = text.slice(at + query.length, at + query.length + columns * rows).split("\n")
  const found = `${safe(before)}${paint("selected", safe(text.slice(at, at + query.length)))}${safe(first)}`
  const lines = [found, ...more.map(safe)].slice(0, Math.max(0, rows - 1))
  return { lines: [head, ...lines.map((line) => cutTo(line, columns))], caret }
}

/** The end of a text that is too wide. */
function tailOf(text: string, columns: number): string {
  let shown = text
  while (shown !== "" && widthOf(shown) > columns) shown = shown.slice(Math.max(1, shown.length - columns))
  return shown
}
