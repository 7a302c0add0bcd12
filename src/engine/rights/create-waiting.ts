// The status of a session while questions to a person are open: "waiting" from the first one until the last is answered.
import type { WhileAsking } from "#ability/tool/tool.ts"
import { keep, type Records } from "#engine/record/append.ts"
import * as SessionRecord from "#engine/record/session-record.ts"

/** The session, and its parent if it is a task, waits for a person as long as any question is open. */
export function createWaiting(options: {
  session: SessionRecord.Info
  /** Ask only listeners: nobody promised that there are any. */
  onlyListeners: boolean
  /** The parent's, if this is a task. */
  parent: WhileAsking | undefined
  records: Records
  signal: AbortSignal
}): WhileAsking {
  const { session, onlyListeners, parent, records, signal } = options
  let open = 0

  function setStatus(status: SessionRecord.Status): void {
    keep(
      records,
      SessionRecord.update(session, (draft) => Object.assign(draft, { status })),
    )
  }

  return async (work) => {
    if (open++ === 0) setStatus("waiting")
    try {
      return await (parent ? parent(work) : work({ onlyListeners }))
    } finally {
      if (--open === 0 && !signal.aborted) setStatus("busy")
    }
  }
}
