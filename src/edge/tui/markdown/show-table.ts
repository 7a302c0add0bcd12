// A table that fits the width: columns shrink and their cells wrap. If the terminal is too narrow for that, each row
// becomes a list of `head: cell`.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { widthOf, wrapTo } from "#edge/tui/screen/width.ts"
import type { Align, Table } from "./block.ts"
import { paintText } from "./paint-text.ts"

const between = " │ "
const narrowest = 6

/** Sets `table.widths`; with them set, the head is not shown again. Empty widths stand for the list. */
export function showTable(table: Table, view: View): Line[] {
  const { paint } = view
  const count = table.head.length
  const head = table.head.map((cell) => paintText(cell, view, "strong").join(" "))
  const rows = table.rows.map((row) => table.head.map((_, i) => paintText(row[i] ?? "", view).join(" ")))
  const isFirst = table.widths === undefined
  table.widths ??= fit([head, ...rows], view.columns - (count - 1) * between.length)
  const { widths } = table
  if (widths.length === 0)
    return rows.flatMap((row, i) => listOf(head, row, { view, isFirst: isFirst && i === 0 }))
  const bar = paint("dim", between)
  const line = paint("dim", widths.map((width) => "─".repeat(width)).join("─┼─"))
  const drawn = rows.map((row) => drawRow(row, { widths, aligns: table.aligns, bar }))
  const isWrapped = drawn.some((lines) => lines.length > 1)
  const body = drawn.flatMap((lines, i) => (isWrapped && (i > 0 || !isFirst) ? [line, ...lines] : lines))
  return isFirst ? [...drawRow(head, { widths, aligns: table.aligns, bar }), line, ...body] : body
}

/** Widths of the columns; wide columns give way first. Empty if the columns would be too narrow to read. */
function fit(rows: string[][], available: number): number[] {
  const natural = rows[0]!.map((_, i) => Math.max(1, ...rows.map((row) => widthOf(row[i]!))))
  const total = (most: number) => natural.reduce((sum, width) => sum + Math.min(width, most), 0)
  const widest = Math.max(...natural)
  if (total(widest) <= available) return natural
  if (total(narrowest) > available) return []
  let [low, high] = [narrowest, widest]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (total(middle) <= available) low = middle
    else high = middle - 1
  }
  return natural.map((width) => Math.min(width, low))
}

type Form = { widths: number[]; aligns: Align[]; bar: string }

function drawRow(cells: string[], { widths, aligns, bar }: Form): Line[] {
  const wrapped = cells.map((cell, i) => wrapTo(cell, widths[i]!))
  const height = Math.max(1, ...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    wrapped
      .map((lines, i) => align(lines[row] ?? "", widths[i]!, aligns[i] ?? "left"))
      .join(bar)
      .trimEnd(),
  )
}

function align(text: string, width: number, how: Align): string {
  const free = Math.max(0, width - widthOf(text))
  const left = how === "right" ? free : how === "center" ? Math.floor(free / 2) : 0
  return " ".repeat(left) + text + " ".repeat(free - left)
}

function listOf(head: string[], row: string[], { view, isFirst }: { view: View; isFirst: boolean }): Line[] {
  const lines = row.flatMap((cell, i) => (cell === "" ? [] : wrapTo(`${head[i]}: ${cell}`, view.columns, 2)))
  return isFirst ? lines : ["", ...lines]
}
