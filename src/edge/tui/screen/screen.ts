// Draws on the main screen. Finished lines are written once and belong to the terminal's scrollback from then on. Below
// them is the tail, the lines that may still change, which is never taller than the terminal; a frame rewrites only those of
// its lines that have changed.
import type { Depth, Line, Paint, Tail, View } from "./line.ts"
import type { Graphics } from "./picture.ts"
import type { Terminal } from "./terminal.ts"
import { cutTo, widthOf } from "./width.ts"

export type Screen = Readonly<{
  view(): View
  /** Finished lines, above the tail. */
  print(lines: readonly Line[]): void
  /** Finished lines with a blank line above them and below. */
  printBlock(lines: readonly Line[]): void
  /** Draw soon. */
  refresh(): void
  /** Draw now: a key was pressed. */
  draw(): void
  /** Take the tail off the screen: another program writes to the terminal until `restart`. */
  pause(): void
  /** What is on the screen is unknown: draw the tail below it. */
  restart(): void
  /** Something else may have written over the tail: draw it again, in its place. */
  redraw(): void
  /** Draw a last frame without the tail, or with it as finished lines. */
  end(keep?: boolean): void
}>

export type ScreenOptions = {
  terminal: Pick<Terminal, "size" | "write">
  paint(): Paint
  depth?: Depth
  expandKey?(): string | undefined
  hasLinks?: boolean
  graphics?(): Graphics | undefined
  /** Lines that are finished since the last call: asked for when a frame is drawn, and before other lines are printed. */
  finished?(): Line[]
  tail(view: View): Tail
  /** False if the terminal cuts lines at a resize, instead of wrapping them anew. */
  reflows: boolean
}

/** Milliseconds between two frames. */
const interval = 33
const begin = "\u001b[?2026h"
const finish = "\u001b[?2026l"
const isAscii = /^[\x20-\x7e]*$/
const eraseLine = "\u001b[K"
const eraseBelow = "\u001b[J"
/** From the start of a line. tmux moves the screen into its history if it is erased from its first cell on. */
const eraseAll = `${eraseLine}\u001b[C${eraseBelow}\r`

export function createScreen(options: ScreenOptions): Screen {
  const { terminal, paint, depth = 1, expandKey, hasLinks = false, graphics, tail, reflows } = options
  /** The tail as the terminal shows it, and the cursor in it. */
  let drawn: Line[] = []
  let [row, column] = [0, 0]
  let known = terminal.size()
  let finished: Line[] = []
  let isBlockLast = false
  let timer: NodeJS.Timeout | undefined
  let drawnAt = 0
  let isPaused = false
  let isOver = false

  function view(): View {
    const { columns, rows } = terminal.size()
    return {
      columns: Math.max(1, columns - 1),
      rows,
      paint: paint(),
      depth,
      hasLinks,
      graphics: graphics?.(),
      expandKey: expandKey?.(),
    }
  }

  function refresh(): void {
    if (timer || isOver) return
    timer = setTimeout(draw, Math.max(0, interval - (Date.now() - drawnAt)))
  }

  function draw(): void {
    clearTimeout(timer)
    timer = undefined
    if (isOver || isPaused) return
    const now = view()
    collect()
    frame(fit(tail(now), now))
  }

  function collect(): void {
    add(options.finished?.() ?? [])
  }

  function add(lines: readonly Line[]): void {
    if (isBlockLast && lines.length && lines[0] !== "") finished.push("")
    isBlockLast &&= !lines.length
    for (const line of lines) finished.push(line)
  }

  /** At most one line less than the terminal has: the last lines of the tail. */
  function fit({ lines, caret }: Tail, { rows, columns }: View): Tail {
    const most = Math.max(1, rows - 1)
    const dropped = Math.max(0, lines.length - most)
    // The terminal would break a longer line into rows that are not counted here.
    const shown = lines.slice(dropped).map((line) => cutTo(line, columns))
    return caret
      ? { lines: shown, caret: { ...caret, row: Math.max(0, caret.row - dropped) } }
      : { lines: shown }
  }

  function frame({ lines, caret }: Tail): void {
    drawnAt = Date.now()
    const size = terminal.size()
    let out = size.columns === known.columns && size.rows === known.rows ? "" : takeResize(size)
    const all = [...finished, ...lines]
    // The terminal may have been resized a moment ago: finished lines are written as a whole, so that none is lost then.
    out += drawn.length && !finished.length ? change(all) : rewrite(all)
    row -= finished.length
    finished = []
    drawn = lines
    out += moveTo(caret?.row ?? Math.max(0, lines.length - 1), caret?.column ?? widthOf(lines.at(-1) ?? ""))
    if (out) terminal.write(begin + out + finish)
  }

  /** Write everything anew, over the tail. */
  function rewrite(lines: readonly Line[]): string {
    const out = `${moveTo(0, 0)}${eraseAll}${lines.join("\r\n")}`
    row = Math.max(0, lines.length - 1)
    column = -1
    return out
  }

  /** Write the lines that differ from those of the tail. */
  function change(lines: readonly Line[]): string {
    let out = ""
    for (const [at, line] of lines.entries()) {
      const before = drawn[at]
      if (before === line) continue
      if (before === undefined) out += `${at ? `${moveTo(at - 1, -1)}\r\n` : moveTo(0, 0)}${line}`
      else out += replaceLine(at, before, line)
      row = at
      column = -1
    }
    if (lines.length < drawn.length) out += `${moveTo(lines.length, 0)}${eraseBelow}`
    return out
  }

  /** Only the end of a plain line is written. A line with other characters is written from its start, because terminals
   * disagree about their widths. */
  function replaceLine(at: number, before: Line, line: Line): string {
    const same = isAscii.test(line) && isAscii.test(before) ? samePrefix(before, line) : 0
    const erase = same < before.length ? eraseLine : ""
    return `${moveTo(at, same)}${erase}${line.slice(same)}`
  }

  /** Moves the cursor. With column -1 it stays in the column that it has. */
  function moveTo(toRow: number, toColumn: number): string {
    const up = row - toRow
    let out = up > 0 ? `\u001b[${up}A` : up < 0 ? `\u001b[${-up}B` : ""
    if (toColumn >= 0 && toColumn !== column) out += toColumn === 0 ? "\r" : `\u001b[${toColumn + 1}G`
    row = toRow
    if (toColumn >= 0) column = toColumn
    return out
  }

  /** The terminal has wrapped the lines of the tail anew, or cut them. Erase them, from the first row that is theirs. */
  function takeResize(size: { columns: number; rows: number }): string {
    const rowsOf = (width: number) => (reflows ? Math.max(1, Math.ceil(width / size.columns)) : 1)
    let above = reflows ? Math.floor(Math.max(0, column) / size.columns) : 0
    for (const line of drawn.slice(0, row)) above += rowsOf(widthOf(line))
    const most = size.rows - 1
    known = size
    drawn = []
    ;[row, column] = [0, -1]
    const up = Math.min(above, most)
    return `\r${up ? `\u001b[${up}A` : ""}${eraseAll}`
  }

  function print(lines: readonly Line[]): void {
    collect()
    add(lines)
    refresh()
  }

  function restart(): void {
    isPaused = false
    drawn = []
    ;[row, column] = [0, -1]
    known = terminal.size()
    refresh()
  }

  return Object.freeze({
    view,
    print,
    printBlock(lines: readonly Line[]) {
      if (lines.length) print(["", ...lines])
      isBlockLast ||= lines.length > 0
    },
    refresh,
    draw,
    pause() {
      collect()
      frame({ lines: [""] })
      isPaused = true
    },
    restart,
    redraw() {
      drawn = []
      column = -1
      refresh()
    },
    end(keep = false) {
      if (isOver) return
      const now = view()
      collect()
      frame(keep ? fit(tail(now), now) : { lines: [""] })
      if (keep) terminal.write("\r\n")
      clearTimeout(timer)
      isOver = true
    },
  })
}

function samePrefix(a: string, b: string): number {
  let i = 0
  while (i < a.length && i < b.length && a[i] === b[i]) i++
  return i
}
