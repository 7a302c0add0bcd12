// Puts the tail of the screen together: what the transcript has open, prompts that wait, the panel or the editor, and the
// status line. On a low terminal the transcript gives way first.
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

export type Parts = {
  transcript(rows: number): Line[]
  /** Texts of prompts that wait, the newest last. */
  waiting: readonly string[]
  /** The panel or the editor, in at most `rows` lines. */
  input(rows: number): Tail
  status: Line
}

/** Waiting prompts that are shown. */
const maxWaiting = 3

export function layOut(parts: Parts, view: View): Tail {
  const rows = Math.max(1, view.rows - 1)
  const hasStatus = rows > 1
  const hasBlank = rows > 6
  const waiting = rows > 6 ? waitingLines(parts.waiting, view) : []
  const taken = Number(hasStatus) + Number(hasBlank) + waiting.length
  const input = parts.input(Math.max(1, rows - taken))
  const room = rows - taken - input.lines.length
  const transcript = room > 0 ? parts.transcript(room).slice(-room) : []
  const above = [...transcript, ...(hasBlank ? [""] : []), ...waiting]
  return {
    lines: [...above, ...input.lines, ...(hasStatus ? [parts.status] : [])],
    ...(input.caret ? { caret: { row: above.length + input.caret.row, column: input.caret.column } } : {}),
  }
}

function waitingLines(waiting: readonly string[], { columns, paint }: View): Line[] {
  const hidden = waiting.length - maxWaiting
  return [
    ...(hidden > 0 ? [paint("dim", `and ${hidden} more prompts wait`)] : []),
    ...waiting.slice(-maxWaiting).map((text) => paint("dim", cutTo(`waits: ${safeLine(text)}`, columns))),
  ]
}
