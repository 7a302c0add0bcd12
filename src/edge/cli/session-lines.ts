// The lines of `vitamin session list`: a prefix of the id that no other session has, local time, state, model, folder and title.
import { homedir } from "node:os"
import { relative } from "node:path"
import type * as Session from "#engine/session/session.ts"
import { isInside } from "#util/resolve-inside.ts"

const shortest = "sess_".length + 8
const maxTitle = 60

export function sessionLines(sessions: Session.Info[], worktree: string): string[] {
  const rows = sessions.map((session) => [
    uniquePrefix(
      session.id,
      sessions.map(({ id }) => id),
    ),
    localTime(session.time.updated),
    session.status,
    session.model ?? "-",
    folderOf(session.directory, worktree),
    session.title.replace(/\s+/g, " ").slice(0, maxTitle),
  ])
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  )
}

function uniquePrefix(id: string, all: string[]): string {
  const others = all.filter((other) => other !== id)
  for (let length = shortest; length < id.length; length++)
    if (!others.some((other) => other.startsWith(id.slice(0, length)))) return id.slice(0, length)
  return id
}

/** As the person's clock shows it: 2026-11-15 21:30. */
function localTime(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Relative to this work tree; a session of another clone with its whole path. */
function folderOf(directory: string, worktree: string): string {
  if (isInside(worktree, directory)) return relative(worktree, directory) || "."
  const home = homedir()
  return isInside(home, directory) ? `~/${relative(home, directory)}` : directory
}
