// Which session of a project was used last, in a record of its own: the clock may go back between two sessions, and
// `--continue` would then take the wrong one. Sessions that do a task for another one do not count.
import * as Storage from "#kernel/storage/storage.ts"
import type { Info } from "./session-info.ts"

export async function set({ id: sessionId, projectId, taskOf }: Info): Promise<void> {
  if (taskOf || (await get(projectId)) === sessionId) return
  await Storage.write(keyOf(projectId), { sessionId })
}

/** A new session is never the last used one already, so nothing is read. */
export async function setNew({ id: sessionId, projectId, taskOf }: Info): Promise<void> {
  if (!taskOf) await Storage.write(keyOf(projectId), { sessionId })
}

export async function get(projectId: string): Promise<string | undefined> {
  try {
    return (await Storage.read<{ sessionId?: string }>(keyOf(projectId))).sessionId
  } catch (error) {
    if (error instanceof Storage.NotFound || error instanceof Storage.Corrupt) return undefined
    throw error
  }
}

function keyOf(projectId: string): Storage.Key {
  return ["last-session", projectId]
}
