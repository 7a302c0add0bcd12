// The lines of `vitamin session list`: unique id prefix, local time, state, model, folder, changed files, title.
import { homedir } from "node:os"
import { relative } from "node:path"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import type * as Session from "#engine/session/session.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { shorten } from "#util/plain-text.ts"

const shortest = "sess_".length + 8
const maxTitle = 60
const minTitle = 24
const gap = 2
/** Columns that are left out in a narrow terminal, in this order: folder, model, state, changes. */
const leastNeeded = [4, 3, 2, 5]
const titleAt = 6

/** `width` is that of the terminal; a pipe gets everything. */
export function sessionLines(
  sessions: Session.Info[],
  worktree: string,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const prefixes = uniquePrefixes(sessions.map(({ id }) => id))
  const rows = sessions.map((session) => [
    prefixes.get(session.id)!,
    localTime(session.time.updated),
    session.status,
    session.model ?? session.fallbackModel ?? "-",
    folderOf(session.directory, worktree),
    changesOf(session),
    shorten(session.title.replace(/\s+/g, " "), maxTitle) || "(no prompt was run)",
  ])
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? []
  const left = new Set(widths.keys())
  const taken = () => [...left].reduce((sum, column) => sum + widths[column]! + gap, 0) - widths.at(-1)! - gap
  const wanted = Math.min(minTitle, widths.at(-1) ?? 0)
  for (const column of leastNeeded) if (taken() + wanted > width) left.delete(column)
  const titleWidth = width - taken()
  return rows.map((row) =>
    [...left]
      .map((column) =>
        column === titleAt ? shorten(row[column]!, titleWidth) : row[column]!.padEnd(widths[column]!),
      )
      .join(" ".repeat(gap))
      .slice(0, width),
  )
}

/** The 10 time characters of an id. If two sessions share a millisecond, the command that gets the prefix lists both. */
export function shortId(id: string): string {
  return id.slice(0, "sess_".length + 10)
}

/** Among sorted ids, an id shares its longest prefix with a neighbour. */
function uniquePrefixes(ids: string[]): Map<string, string> {
  const sorted = ids.toSorted()
  return new Map(
    sorted.map((id, i) => {
      const length = 1 + Math.max(sharedLength(id, sorted[i - 1]), sharedLength(id, sorted[i + 1]))
      return [id, id.slice(0, Math.max(shortest, length))]
    }),
  )
}

function sharedLength(id: string, other = ""): number {
  let length = 0
  while (length < id.length && id[length] === other[length]) length++
  return length
}

/** In local time: 2026-11-15 21:30. */
export function localTime(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

function changesOf({ changed = [] }: Session.Info): string {
  return changed.length ? `${countOf(changed.length, "file")} changed` : "-"
}

/** Relative to this work tree; for a session of another clone the whole path. */
function folderOf(directory: string, worktree: string): string {
  if (isInside(worktree, directory)) return relative(worktree, directory) || "."
  const home = homedir()
  return isInside(home, directory) ? `~/${relative(home, directory)}` : directory
}
