// A change of a session that no prompt may run beside, in this process or another: the session is busy meanwhile.
import * as SessionRecord from "./session-record.ts"

type Change = Partial<Pick<SessionRecord.Info, "mode" | "branch" | "status" | "error">>

/** When `work` is done the session is as before, but for `after`. A session that somebody works on throws `Session.Busy`. */
export async function whileBusy<T>(
  options: { sessionId: string; after?: Change },
  work: (session: SessionRecord.Info) => Promise<T>,
): Promise<T> {
  const { session, before, kept } = await SessionRecord.claim(options.sessionId)
  let change: Change = before
  try {
    await kept
    const result = await work(session)
    change = { ...before, ...options.after }
    return result
  } finally {
    await SessionRecord.update(session, (draft) => {
      delete draft.owner
      Object.assign(draft, change)
    })
  }
}
