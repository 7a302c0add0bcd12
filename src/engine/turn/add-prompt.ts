// A prompt becomes messages: the words of the person, then what they attached. The first of them names the record of a
// prompt that was stored, which is removed when that message is on the disk.

import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { append, keep, lastId } from "#engine/record/append.ts"
import { type PromptPart, wordsOf } from "#engine/record/prompt-part.ts"
import type { Settled } from "#engine/run/run.ts"
import * as Message from "#knowledge/message/message.ts"

export type Prompt = {
  parts: PromptPart[]
  /** The text in which `@path` points at a file; all of it if it is left out. */
  mentionsIn?: string
  refresh?: boolean
  stored?: StoredPrompt.Handle | undefined
}
type Place = Pick<Settled, "session" | "progress" | "signal" | "chosen" | "timing" | "permits">

export async function addPrompt(place: Place, prompt: Prompt): Promise<void> {
  const words = wordsOf(prompt.parts)
  const promptId = prompt.stored?.id
  const { length } = place.progress.history
  if (words.length) append(place, userMessage(place, { parts: words, promptId }))
  const mentionsIn = prompt.mentionsIn ?? textOf(words)
  try {
    if (prompt.refresh || mentionsIn.includes("@") || prompt.parts.some(({ type }) => type !== "text")) {
      const { attach } = await import("#engine/attach/attach.ts")
      await attach(place, { ...prompt, mentionsIn, promptId: words.length ? undefined : promptId })
    }
  } finally {
    // Also if it was stopped among its attachments: a prompt that has a message has begun.
    if (prompt.stored && place.progress.history.length > length) leaveStore(place, prompt.stored)
  }
}

export function textOf(words: Message.Part[]): string {
  return words.map(({ text }) => text).join("\n")
}

/** Only when its messages are on the disk: a crash must leave the record or the message, never neither. A prompt that joins
 * another one may come here while its own record is still being written, and removing it then would leave it for ever. */
function leaveStore({ progress: { records } }: Place, stored: StoredPrompt.Handle): void {
  stored.hasBegun = true
  const written = Promise.all([...records.pending, stored.written.catch(() => {})])
  keep(
    records,
    written.then(() => (records.failed ? undefined : StoredPrompt.remove(stored.id))),
  )
}

function userMessage(
  place: Place,
  { parts, promptId }: { parts: Message.Part[]; promptId: string | undefined },
): Message.Info {
  return Message.make({
    sessionId: place.session.id,
    parentId: lastId(place),
    branch: place.session.branch,
    ...(promptId ? { promptId } : {}),
    type: "text",
    data: { role: "user", parts },
  })
}
