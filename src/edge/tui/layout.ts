// Puts the tail of the screen together: what the transcript has open, prompts that wait, the panel or the editor, and the
// status line. On a low terminal the transcript gives way first.
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

export type Parts = {
  transcript(rows: number): Line[]
  /** Texts of prompts that wait, the newest last. */
  waiting: readonly string[]
  /** The key that takes the last one back. */
  withdrawKey?: string | undefined
  /** The panel or the editor, in at most `rows` lines. */
  input(rows: number): Tail
  status: Line
}

/** Waiting prompts that are shown. */
const maxWaiting = 3
/** Columns that a prompt needs beside the hint. */
const leastPrompt = 20

export function layOut(parts: Parts, view: View): Tail {
  const rows = Math.max(1, view.rows - 1)
  const hasStatus = rows > 1
  const hasBlank = rows > 6
  const waiting = rows > 6 ? waitingLines(parts, view) : []
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

function waitingLines({ waiting, withdrawKey }: Parts, { columns, paint }: View): Line[] {
  const hidden = waiting.length - maxWaiting
  const hint = withdrawKey ? ` (${withdrawKey} takes it back)` : ""
  const room = columns - hint.length
  const lines = waiting.slice(-maxWaiting).map((text, i, shown) => {
    const isHinted = i === shown.length - 1 && room >= leastPrompt
    return cutTo(`waits: ${safeLine(text)}`, isHinted ? room : columns) + (isHinted ? hint : "")
  })
  const more = hidden > 0 ? [`and ${hidden} more prompts wait`] : []
  return [...more, ...lines].map((line) => paint("dim", line))
}
