// Sets the mode, plan or act. Rules and system prompt follow the mode; the history records the change.
import * as Queue from "#engine/queue/queue.ts"
import { writeControl } from "#engine/record/append.ts"
import { recentHistory, tipAt } from "#engine/record/history.ts"
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"

/** Takes effect with the next prompt. A busy session throws `Session.Busy`. */
export function setMode(sessionId: string, mode: SessionRecord.Info["mode"]): Promise<SessionRecord.Info> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async () => {
    const session = await SessionRecord.get(sessionId)
    if (session.mode === mode) return session
    let tip: Tip | undefined
    await Queue.whileBusy(
      { sessionId, after: () => ({ mode, tip }) },
      async ({ mode: from, branch }, before) => {
        const parentId = (await recentHistory({ id: sessionId, branch }, before)).at(-1)?.id ?? null
        const id = await writeControl({ sessionId, branch, parentId }, "mode_change", { from, to: mode })
        tip = tipAt({ id: sessionId, branch }, id)
      },
    )
    return SessionRecord.get(sessionId)
  })
}
