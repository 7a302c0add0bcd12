// The rows that a text takes on the screen: wrapped between words, a longer word broken. Rows are computed once for each line.
import { safe } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf } from "#edge/tui/screen/width.ts"
import type { Document, Place, TextLine, Unit } from "./document.ts"

/** A row of a line: its units from `start` to `end`. */
type Row = { line: number; start: number; end: number; isLast: boolean }
type Cell = { row: number; column: number }

const cache = new WeakMap<TextLine, { width: number; starts: number[] }>()

export function rowsOf({ lines }: Document, width: number): Row[] {
  return lines.flatMap((units, line) => {
    const starts = startsOf(units, width)
    return starts.map((start, at) => {
      const isLast = at === starts.length - 1
      return { line, start, end: starts[at + 1] ?? units.length, isLast }
    })
  })
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
  if (typeof unit !== "string") return cutTo(safe(unit.label), width)
  return unit.length === 1 && unit >= " " && unit <= "~" ? unit : safe(unit)
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
    const start = starts.at(-1)!
    if (cells + more > width && at > start) {
      // One blank is hidden behind the end of a full row.
      if (unit === " " && cells === width) {
        starts.push(at + 1)
        cells = 0
        fit = { at: at + 1, cells: 0 }
        continue
      }
      const place = fit.at > start ? fit : { at, cells }
      starts.push(place.at)
      cells -= place.cells
      fit = { at: place.at, cells: 0 }
    }
    cells += more
    if (unit === " " || unit === "\t" || more === 2) fit = { at: at + 1, cells }
  }
  return starts
}

function unitWidth(unit: Unit, width: number): number {
  if (typeof unit === "string" && unit.length === 1 && unit >= " " && unit <= "~") return 1
  return Math.min(widthOf(shownUnit(unit, width)), width)
}
