// The id of the last message of a branch, in the session record while no prompt runs. A prompt removes it when it begins
// and writes a new one at its end, so after a crash it is missing rather than wrong.
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

/** The tip at the end of a prompt; `before` if the prompt never read the history. If the tip message was not stored, the
 * next prompt does not find it and reads the whole session. */
export function tipOf({ session, history }: Work, before?: Tip): Tip | undefined {
  const id = history.at(-1)?.id
  return id === undefined ? before : tipAt(session, id)
}

/** The next prompt may use the messages that this one read. */
export function tipAt(session: { id: string; branch: string }, id: string): Tip {
  const mark = createId("mark")
  MessageStore.warm().mark(session.id, mark)
  return { branch: session.branch, id, mark }
}
