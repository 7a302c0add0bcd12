// Entries that are finished when they are added: notes, what a person wrote, the plan.
import type { Line, Role, View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import type { Entry, Kind } from "./entries.ts"
import type { Folded, Shown } from "./fold.ts"

/** `fold` keeps what is not shown, once: when the lines are taken. */
export function createFinished(
  kind: Kind,
  draw: (view: View) => Shown,
  fold: (folded: Folded) => void = () => {},
): Entry {
  let isTaken = false
  return {
    kind,
    isDone: () => true,
    take(view) {
      if (isTaken) return []
      isTaken = true
      const { lines, folded } = draw(view)
      if (folded) fold(folded)
      return lines
    },
    tail: (view) => (isTaken ? [] : draw(view).lines),
  }
}

/** A line about the progress, behind a mark in a colour. */
export function createNote(text: string, { mark, role }: { mark: string; role: Role }): Entry {
  return createFinished("note", (view) => ({ lines: noteLines(text, { mark, role }, view) }))
}

export function noteLines(
  text: string,
  { mark, role }: { mark: string; role: Role },
  { columns, paint }: View,
): Line[] {
  return safe(text.trim())
    .replace(/\n+/g, "\n")
    .split("\n")
    .flatMap((line, i) =>
      wrapTo(`${i ? " " : paint(role, mark)} ${paint(role === "error" ? role : "dim", line)}`, columns, 2),
    )
}

/** A notice between the entries. */
export function noticeLines(text: string, { columns, paint }: View, role?: Role): Line[] {
  const rows = safe(text).split("\n")
  return rows.flatMap((row) => wrapTo(row, columns).map((line) => (role ? paint(role, line) : line)))
}
