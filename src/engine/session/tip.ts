// The last message of a branch, as the session record names it while nobody works on the session. Whoever begins to work
// on it takes it away and notes another one at the end, so that after a crash it is missing rather than wrong.
import { z } from "zod"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createId } from "#util/id.ts"

export const Tip = z.object({
  branch: z.string(),
  id: z.string(),
  mark: z.string().describe("another one each time: who finds an old one knows that somebody else was there"),
})
export type Tip = z.infer<typeof Tip>

type Work = {
  session: { id: string; branch: string }
  history: readonly { id: string }[]
}

/** The tip after the work on a session. `before` counts if its history was never read. If a record was lost on the way, the
 * next one to work on the session does not get far from here and reads the whole. */
export function tipOf({ session, history }: Work, before?: Tip): Tip | undefined {
  const id = history.at(-1)?.id
  return id === undefined ? before : tipAt(session, id)
}

/** Messages that were read for this work may be used by the next one. */
export function tipAt(session: { id: string; branch: string }, id: string): Tip {
  const mark = createId("mark")
  MessageStore.warm().mark(session.id, mark)
  return { branch: session.branch, id, mark }
}
