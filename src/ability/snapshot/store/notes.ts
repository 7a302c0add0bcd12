// What a person should know about an undo that concerns no single path.
import type { Snapshot } from "./list.ts"

/** Commands may touch anything. It is on record with the first one of a session. */
export const commandNote =
  "what git ignores, repositories inside of this one, owners, times, extended attributes and the mode of the top folder are not covered for commands"
const separator = "; "

export function joinNotes(notes: (string | undefined)[]): string | undefined {
  return notes.filter((note) => note !== undefined).join(separator) || undefined
}

/** Of all these calls, each note once. */
export function notesOf(snapshots: readonly Snapshot[]): string[] {
  const isConflict = (note: string) => note.startsWith("not covered")
  const notes = snapshots.flatMap(({ part: { note } }) =>
    note && !isConflict(note) ? note.split(separator) : [],
  )
  const hasCommand = snapshots.some(({ part }) => part.scope === "worktree")
  return [...new Set([...(hasCommand ? [commandNote] : []), ...notes])]
}
