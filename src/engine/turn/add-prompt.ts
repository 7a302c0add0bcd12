// Turns a prompt into messages: the text, then the attachments. If the prompt was stored, its first message has the id of
// that record, and the record is removed once the message is on disk, or with it.

import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { append, keep, lastId, type Write } from "#engine/record/append.ts"
import { type PromptPart, wordsOf } from "#engine/record/prompt-part.ts"
import type { Settled } from "#engine/run/run.ts"
import * as Message from "#knowledge/message/message.ts"

export type Prompt = {
  parts: PromptPart[]
  /** The text in which `@path` is a reference; default: all of it. */
  mentionsIn?: string
  refresh?: boolean
  /** The id of its message, if a question about it was asked already. */
  messageId?: string
  stored?: StoredPrompt.Handle | undefined
}
type Place = Pick<Settled, "session" | "progress" | "signal" | "chosen" | "timing" | "permits" | "editor">

export async function addPrompt(place: Place, prompt: Prompt): Promise<void> {
  const words = wordsOf(prompt.parts)
  const promptId = prompt.stored?.id
  const { stored } = prompt
  const write: Write | undefined = stored && ((message) => StoredPrompt.begin(stored, message))
  const { length } = place.progress.history
  if (words.length) append(place, userMessage(place, { parts: words, promptId, id: prompt.messageId }), write)
  const mentionsIn = prompt.mentionsIn ?? textOf(words)
  try {
    if (prompt.refresh || mentionsIn.includes("@") || prompt.parts.some(({ type }) => type !== "text")) {
      const { attach } = await import("#engine/attach/attach.ts")
      const first = promptId && write && !words.length ? { promptId, write } : undefined
      await attach(place, { ...prompt, mentionsIn, first })
    }
  } finally {
    // A prompt with a message has begun, even if it is aborted while its attachments are read.
    if (prompt.stored && place.progress.history.length > length) leaveStore(place, prompt.stored)
  }
}

export function textOf(words: Message.Part[]): string {
  return words.map(({ text }) => text).join("\n")
}

/** Removes the record of a stored prompt after its messages are on disk, so that a crash never loses both; that of a job
 * goes with its first message. The record itself may still be being written, for a prompt that steers: removing it waits
 * for that, or it would stay for ever. */
function leaveStore({ progress: { records } }: Place, stored: StoredPrompt.Handle): void {
  if (stored.isJob) return
  stored.hasBegun = true
  const written = Promise.all([...records.pending, stored.written.catch(() => {})])
  keep(
    records,
    written.then(() => (records.failed ? undefined : StoredPrompt.remove(stored))),
  )
}

function userMessage(
  place: Place,
  { parts, promptId, id }: { parts: Message.Part[]; promptId: string | undefined; id: string | undefined },
): Message.Info {
  const message = Message.make({
    sessionId: place.session.id,
    parentId: lastId(place),
    branch: place.session.branch,
    ...(promptId ? { promptId } : {}),
    type: "text",
    data: { role: "user", parts },
  })
  return id === undefined ? message : { ...message, id }
}
