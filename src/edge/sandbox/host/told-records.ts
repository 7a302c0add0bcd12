// Records that a guest need not ask for: those that it reads at the beginning of a prompt, and those that it reads before
// every call. The latter are the parent's own, and it tells the guest whenever they have changed.
import type { Told } from "#edge/sandbox/wire/doors.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { Instance } from "#kernel/instance.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Storage from "#kernel/storage/storage.ts"

export function createToldRecords(sessionId: string, tell: (records: Told[]) => void) {
  const project = Instance.project.id
  const grants = ["grant", project]
  const trust = Reviewed.keyOf(Instance.worktree)
  let last = ""

  /** What the guest reads before it asks the model. */
  async function first(): Promise<Told[]> {
    await refresh()
    const session = ["session", project, sessionId]
    const messages = ["message", sessionId]
    const latest = ["last-session", project]
    const jobs = ["job", sessionId]
    const [prompts, texts, names, jobNames] = await Promise.all([
      StoredPrompt.listPlain(sessionId),
      Promise.all([session, latest].map((key) => textAt(key).catch(() => undefined))),
      Storage.list(messages),
      Storage.list(jobs),
    ])
    const records: Told[] = [
      { key: messages, value: names },
      { key: ["prompt"], value: prompts.map(({ id }) => id) },
      { key: jobs, value: jobNames },
    ]
    // A broken record throws where the guest reads it.
    for (const [i, key] of [session, latest].entries())
      if (texts[i] !== undefined) records.push({ key, value: texts[i] })
    return records
  }

  /** Tells the guest what has changed: a person may answer "always", or revoke a grant in another program. */
  async function refresh(): Promise<void> {
    const [names, text] = await Promise.all([Storage.list(grants), textAt(trust).catch(() => null)])
    const records: Told[] = [
      { key: grants, value: names },
      { key: trust, value: text },
    ]
    const now = JSON.stringify(records)
    if (now === last) return
    last = now
    tell(records)
  }

  return Object.freeze({ first, refresh })
}

/** The text of a record, as a guest gets it; null if there is none. */
export async function textAt(key: Storage.Key): Promise<string | null> {
  try {
    return JSON.stringify(await Storage.read(key))
  } catch (error) {
    if (error instanceof Storage.NotFound) return null
    throw error
  }
}
