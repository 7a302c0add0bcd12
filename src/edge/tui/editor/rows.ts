// The rows that a text takes on the screen: wrapped between words, a longer word broken. Rows are computed once for each line.
import { safe } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf } from "#edge/tui/screen/width.ts"
import type { Document, Place, TextLine, Unit } from "./document.ts"

/** A row of a line: its units from `start` to `end`. */
type Row = { line: number; start: number; end: number; isLast: boolean }
type Cell = { row: number; column: number }

const cache = new WeakMap<TextLine, { width: number; starts: number[] }>()

/** How many rows the text has. */
export function heightOf({ lines }: Document, width: number): number {
  let height = 0
  for (const units of lines) height += startsOf(units, width).length
  return height
}

/** The rows from `first` on, at most `count`. */
export function rowsFrom({ lines }: Document, width: number, first: number, count: number): Row[] {
  const rows: Row[] = []
  let number = 0
  for (let line = 0; line < lines.length && number < first + count; line++) {
    const starts = startsOf(lines[line]!, width)
    const before = number
    number += starts.length
    for (let at = Math.max(0, first - before); at < starts.length && rows.length < count; at++) {
      const isLast = at === starts.length - 1
      rows.push({ line, start: starts[at]!, end: starts[at + 1] ?? lines[line]!.length, isLast })
    }
  }
  return rows
}

/** Where the caret is. A place between two rows of a line belongs to the second. */
export function cellOf({ lines, caret }: Document, width: number): Cell {
  let row = 0
  for (let line = 0; line < caret.line; line++) row += startsOf(lines[line]!, width).length
  const starts = startsOf(lines[caret.line]!, width)
  const inLine = starts.findLastIndex((start) => start <= caret.at)
  const before = lines[caret.line]!.slice(starts[inLine], caret.at)
  const column = before.reduce((sum, unit) => sum + unitWidth(unit, width), 0)
  return { row: row + inLine, column: Math.min(column, width) }
}

/** The place in a row that is nearest to a column, not behind it. */
export function placeIn({ lines }: Document, row: Row, column: number, width: number): Place {
  const units = lines[row.line]!
  const last = row.isLast ? row.end : row.end - 1
  let [at, cells] = [row.start, 0]
  while (at < last) {
    cells += unitWidth(units[at]!, width)
    if (cells > column) break
    at++
  }
  return { line: row.line, at }
}

/** What a unit looks like. */
export function shownUnit(unit: Unit, width: number): string {
  if (typeof unit === "string" && unit.length === 1 && unit >= " " && unit <= "~") return unit
  const shown = safe(typeof unit === "string" ? unit : unit.label)
  return cutTo(withBase(shown), width)
}

/** An accent without a letter would join with what stands before it. */
export function withBase(text: string): string {
  return /^[\p{M}\p{Cf}]/u.test(text) ? `◌${text}` : text
}

function startsOf(units: TextLine, width: number): number[] {
  const known = cache.get(units)
  if (known?.width === width) return known.starts
  const starts = wrap(units, width)
  cache.set(units, { width, starts })
  return starts
}

function wrap(units: TextLine, width: number): number[] {
  const starts = [0]
  let cells = 0
  /** Where the row may be broken: behind the last blank or wide character. */
  let fit = { at: 0, cells: 0 }
  for (let at = 0; at < units.length; at++) {
    const unit = units[at]!
    const more = unitWidth(unit, width)
    // One blank is hidden behind the end of a full row.
    if (unit === " " && cells === width) {
      breakAt({ at: at + 1, cells })
      continue
    }
    // A unit may be too wide even for what is left behind the last blank.
    while (cells + more > width && at > starts.at(-1)!) breakAt(fit.at > starts.at(-1)! ? fit : { at, cells })
    cells += more
    if (unit === " " || unit === "\t" || more === 2) fit = { at: at + 1, cells }
  }
  return starts

  function breakAt(place: { at: number; cells: number }): void {
    starts.push(place.at)
    cells -= place.cells
    fit = { at: place.at, cells: 0 }
  }
}

function unitWidth(unit: Unit, width: number): number {
  if (typeof unit === "string" && unit.length === 1 && unit >= " " && unit <= "~") return 1
  return widthOf(shownUnit(unit, width))
}
