// Entries that are finished when they are added: notes, what a person wrote, the plan.
import type { Line, Role, View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import type { Entry, Kind } from "./entries.ts"

export function createFinished(kind: Kind, lines: (view: View) => Line[]): Entry {
  let isTaken = false
  return {
    kind,
    isDone: () => true,
    take(view) {
      if (isTaken) return []
      isTaken = true
      return lines(view)
    },
    tail: (view) => (isTaken ? [] : lines(view)),
  }
}

/** A line about the progress, behind a mark in a colour. */
export function createNote(text: string, { mark, role }: { mark: string; role: Role }): Entry {
  const safeText = safe(text.trim()).replace(/\n+/g, "\n")
  return createFinished("note", ({ columns, paint }) =>
    safeText
      .split("\n")
      .flatMap((line, i) =>
        wrapTo(`${i ? " " : paint(role, mark)} ${paint(role === "error" ? role : "dim", line)}`, columns, 2),
      ),
  )
}
