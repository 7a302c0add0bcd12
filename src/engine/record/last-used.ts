// Which session of a project was used last. It has a record of its own because the clock may go back between two
// sessions, and `--continue` would then take the wrong one. Sessions that do a task for another one do not count.
import * as Storage from "#kernel/storage/storage.ts"

type Session = { id: string; projectId: string; taskOf?: unknown }
type Timed = { id: string; time: { updated: number } }

/** For a new session: written in one batch with its record. */
export async function setLastUsed({ id, projectId, taskOf }: Session): Promise<void> {
  if (!taskOf) await Storage.write(keyOf(projectId), { sessionId: id })
}

/** For an existing session. Most prompts go to the session that was used last anyway, and need no write. */
export async function keepLastUsed(session: Session): Promise<void> {
  if ((await lastUsed(session.projectId)) !== session.id) await setLastUsed(session)
}

export async function lastUsed(projectId: string): Promise<string | undefined> {
  try {
    return (await Storage.read<{ sessionId?: string }>(keyOf(projectId))).sessionId
  } catch (error) {
    if (error instanceof Storage.NotFound || error instanceof Storage.Corrupt) return undefined
    throw error
  }
}

/** Sorts sessions of a project: the last used one first, then by time. */
export function lastUsedFirst(last: string | undefined): (a: Timed, b: Timed) => number {
  return (a, b) =>
    Number(b.id === last) - Number(a.id === last) || b.time.updated - a.time.updated || (a.id < b.id ? 1 : -1)
}

function keyOf(projectId: string): Storage.Key {
  return ["last-session", projectId]
}
