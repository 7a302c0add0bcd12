// The folder that a session's next command starts in: where the last one ended, as long as that is in the workspace.
import { statSync } from "node:fs"
import { relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"

const folders = Instance.state(() => new Map<string, string>())

/** Where the next command starts, with a note if the kept folder is gone. */
export function get(sessionId: string): { cwd: string; note?: string } {
  const kept = folders().get(sessionId)
  if (kept === undefined) return { cwd: Instance.directory }
  if (statSync(kept, { throwIfNoEntry: false })?.isDirectory()) return { cwd: kept }
  return { cwd: Instance.directory, note: `${kept} is gone; the working directory is ${Instance.directory}` }
}

/** Keeps the folder in which a command ended. Returns a note for the model if the next one starts elsewhere. */
export function update(
  sessionId: string,
  move: { from: string; to: string },
): { cwd: string; note?: string } {
  const { from, to } = move
  if (!isInside(Instance.worktree, to)) {
    folders().delete(sessionId)
    const note = `${to} is outside of the workspace; the working directory is ${Instance.directory}`
    return { cwd: Instance.directory, note }
  }
  folders().set(sessionId, to)
  const now = get(sessionId)
  if (now.note) folders().delete(sessionId)
  if (now.note || to === from) return now
  return { cwd: to, note: `the working directory is now ${relative(Instance.worktree, to) || to}` }
}
