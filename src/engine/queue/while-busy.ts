// Changes a session while no prompt runs, in this process or another: the session is busy meanwhile.

import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"

type Change = Partial<Pick<SessionRecord.Info, "mode" | "branch" | "status" | "error" | "tip" | "changed">>

/** After `work` the session is as before, except for the result of `after`. Without a `tip` in it the next prompt
 * reads the whole session. A busy session throws `Session.Busy`. */
export async function whileBusy<T>(
  options: { sessionId: string; after?: () => Change },
  work: (session: SessionRecord.Info, tip: Tip | undefined) => Promise<T>,
): Promise<T> {
  const { session, before, kept } = await SessionRecord.claim(options.sessionId)
  const { tip, ...state } = before
  let change: Change = state
  try {
    await kept
    const result = await work(session, tip)
    change = { ...state, ...options.after?.() }
    return result
  } finally {
    await SessionRecord.update(session, (draft) => {
      delete draft.owner
      Object.assign(draft, change)
    })
  }
}
