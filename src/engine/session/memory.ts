// The memory of a stored session, read from disk. `shortTerm`: the history of the active branch, and the part that would be
// sent to the model. `working`: the state of its task. A running prompt has its own memory (knowledge/memory), which begins
// at the last compaction.

import { historyOf } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { createShortTerm, type ShortTerm as OfPrompt } from "#knowledge/memory/short-term.ts"
import { createWorking, type Working } from "#knowledge/memory/working.ts"

export type { Counting } from "#knowledge/memory/short-term.ts"
export type { State, Working } from "#knowledge/memory/working.ts"
export type ShortTerm = Pick<OfPrompt, "messages" | "window" | "tokenCount" | "shouldSummarize">

/** The messages of a session, the oldest first, and how many tokens of the window they use. */
export async function shortTerm(sessionId: string): Promise<ShortTerm> {
  const { branch } = await SessionRecord.get(sessionId)
  const { append, messages, window, tokenCount, shouldSummarize } = createShortTerm()
  for (const message of await historyOf(sessionId, branch)) append(message)
  return Object.freeze({ messages, window, tokenCount, shouldSummarize })
}

/** The task of a session: what was asked and said, plan, files, commands, recent results. */
export async function working(sessionId: string): Promise<Working> {
  const { messages } = await shortTerm(sessionId)
  return createWorking(messages)
}
