// The records of A2A that belong to a session: its tasks with their push settings, and its context. They go with it, also if
// no A2A server runs in this process.
import * as SessionRecord from "#engine/record/session-record.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"

const areas = ["a2a_task", "a2a_context"]

export function removeA2ARecords(sessionId: string): Promise<void> {
  return removeRecords(async (id) => id === sessionId)
}

/** Those of sessions that are gone: their removal was cut short, or an older version removed them. */
export function removeA2ALeftovers(): Promise<void> {
  return removeRecords(isGone)
}

async function removeRecords(isChosen: (sessionId: string) => Promise<boolean>): Promise<void> {
  for (const area of areas) {
    const prefix = [area, Instance.project.id]
    const all: [name: string, sessionId: string][] = []
    await Storage.readAll<{ sessionId: string }>(prefix, ({ sessionId }, name) => {
      all.push([name, sessionId])
    })
    for (const [name, sessionId] of all)
      if (await isChosen(sessionId)) await Storage.remove([...prefix, name])
  }
}

async function isGone(sessionId: string): Promise<boolean> {
  try {
    await SessionRecord.get(sessionId)
    return false
  } catch (error) {
    if (error instanceof SessionRecord.NotFound) return true
    throw error
  }
}
