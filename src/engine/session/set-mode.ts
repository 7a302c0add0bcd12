// Plan or act: a session changes its mode between prompts, and its history says when.
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { historyOf } from "./history.ts"
import * as Queue from "./queue.ts"
import * as SessionRecord from "./session-record.ts"

/** Takes effect with the next prompt. A session that is working throws `Session.Busy`. */
export function setMode(sessionId: string, mode: SessionRecord.Info["mode"]): Promise<SessionRecord.Info> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async () => {
    const session = await SessionRecord.get(sessionId)
    if (session.mode === mode) return session
    const { branch, mode: from } = session
    const changed = await SessionRecord.update(session, (draft) => {
      SessionRecord.refuseBusy(draft)
      draft.mode = mode
    })
    const history = await historyOf(sessionId, branch)
    await MessageStore.write(
      Message.make({
        sessionId,
        parentId: history.at(-1)?.id ?? null,
        branch,
        type: "system_control",
        data: { control: "mode_change", parameters: { from, to: mode } },
      }),
    )
    return changed
  })
}
