// Reports the prompts that a dead process accepted and never began. They are skipped, and never run (decision 017).
import { isAlive } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText } from "#util/error.ts"
import { skip } from "./skipped-prompts.ts"
import * as StoredPrompt from "./stored-prompt.ts"

/** Sessions that this instance has checked for prompts of dead processes. */
const recovered = Instance.state(() => new Set<string>())

/** Report the prompts that dead processes accepted and never began: of one session, or of all sessions of this directory. */
export async function recoverPrompts(sessionId?: string): Promise<void> {
  await Worker.alive()
  const left = (await StoredPrompt.readAll()).filter(
    (prompt) => (sessionId ?? prompt.sessionId) === prompt.sessionId && !isAlive(prompt.owner),
  )
  for (const [id, prompts] of Map.groupBy(left, (prompt) => prompt.sessionId))
    await recoverSession(id, prompts).catch((error) =>
      Log.warn("prompts that did not run could not be reported", { sessionId: id, error: errorText(error) }),
    )
}

/** Calls `recoverPrompts` when a session starts a prompt: the first time in this instance, and whenever its last process was
 * interrupted. */
export async function recoverOnce(sessionId: string, { isInterrupted = false } = {}): Promise<void> {
  const seen = recovered()
  if (seen.has(sessionId) && !isInterrupted) return
  seen.add(sessionId)
  await recoverPrompts(sessionId)
}

async function recoverSession(sessionId: string, prompts: StoredPrompt.Info[]): Promise<void> {
  const session = await SessionRecord.get(sessionId)
  if (session.directory !== Instance.place) return
  const known = new Set(session.skipped?.map(({ id }) => id))
  const fresh = prompts.filter(({ id }) => !known.has(id))
  if (!fresh.length) return
  // The process may have ended after the first message was stored and before the record was removed.
  const begun = new Set((await MessageStore.list(sessionId)).map(({ promptId }) => promptId))
  const [started, waiting] = [true, false].map((is) => fresh.filter(({ id }) => begun.has(id) === is))
  await Promise.all(started!.map(StoredPrompt.remove))
  const reason = "the process that had accepted it ended"
  await skip(
    session,
    waiting!.map((prompt) => ({ prompt, reason })),
  )
}
