// Plan or act. The rules and the words for the model follow the mode, and the history says when it changed.
import { historyOf } from "./history.ts"
import * as Queue from "./queue.ts"
import * as SessionRecord from "./session-record.ts"
import { whileBusy } from "./while-busy.ts"
import { writeControl } from "./write-control.ts"

/** Takes effect with the next prompt. A session that is working throws `Session.Busy`. */
export function setMode(sessionId: string, mode: SessionRecord.Info["mode"]): Promise<SessionRecord.Info> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async () => {
    const session = await SessionRecord.get(sessionId)
    if (session.mode === mode) return session
    await whileBusy({ sessionId, after: { mode } }, async ({ mode: from, branch }) => {
      const parentId = (await historyOf(sessionId, branch)).at(-1)?.id ?? null
      await writeControl({ sessionId, branch, parentId }, "mode_change", { from, to: mode })
    })
    return SessionRecord.get(sessionId)
  })
}
