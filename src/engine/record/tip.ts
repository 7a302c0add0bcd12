// The last message of a branch, as the session record names it while nobody works on the session. Whoever begins to work
// on it takes it away and notes another one at the end, so that after a crash it is missing rather than wrong.
import { z } from "zod"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { about } from "#util/about.ts"
import { createId } from "#util/id.ts"

export const Tip = z.object({
  branch: about("Branch that it ends.", z.string()),
  id: about("The message.", z.string()),
  mark: z
    .string()
    .describe("new each time; another mark than the own one shows that somebody else worked on the session"),
})
export type Tip = z.infer<typeof Tip>

type Work = {
  session: { id: string; branch: string }
  history: readonly { id: string }[]
}

/** The tip after the work on a session. `before` counts if its history was never read. If a message was not stored, the
 * next prompt does not find it and reads the whole session. */
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
