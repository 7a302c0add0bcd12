// What a person attached to a prompt, as messages behind the words: each is resolved before the model is asked. One that
// cannot be is there as well, with the reason, and the prompt goes on.
import { isDeepStrictEqual } from "node:util"
import type { ModelFacts } from "#ability/provider/provider.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createAttaching } from "./attaching.ts"
import { findReferences, referenceTo } from "./find-references.ts"
import type { Permits } from "./permits.ts"
import type { Attachment, PromptPart } from "./prompt-part.ts"
import { recognizeImage } from "./recognize-image.ts"
import { resolveFile } from "./resolve-file.ts"
import { append, keep, lastId, type Run } from "./run.ts"

type Place = Pick<Run, "session" | "history" | "records" | "signal"> & {
  permits: Permits
  facts: ModelFacts | undefined
}
type Attached = Message.Of<"file_reference"> | Message.Of<"image">

/** `mentionsIn` is the text in which `@path` counts. */
export async function attach(place: Place, parts: PromptPart[], mentionsIn: string): Promise<void> {
  for (const attachment of attachmentsOf(parts, mentionsIn)) {
    const message = pending(place, attachment)
    append(place, place.signal.aborted ? message : await resolveOrLeave(message, place))
  }
  place.signal.throwIfAborted()
}

/** Files that have changed are read again, and what failed is tried again. */
export async function refresh(place: Place): Promise<void> {
  const { history, records } = place
  for (const [i, message] of history.entries()) {
    if (!isAttached(message) || (message.type === "image" && message.data.state === "done")) continue
    const now = await resolve(message, place)
    if (isDeepStrictEqual(now.data, message.data)) continue
    history[i] = now
    keep(records, MessageStore.write(now))
  }
}

/** What was attached on purpose, then what the words point at. */
function attachmentsOf(parts: PromptPart[], mentionsIn: string): Attachment[] {
  const found = new Map<string, Attachment>()
  for (const part of [...parts, ...findReferences(mentionsIn)]) {
    if (part.type === "text") continue
    const attachment = part.type === "image" ? part : { ...part, ...referenceTo(part.path) }
    found.set(JSON.stringify(attachment), attachment)
  }
  return [...found.values()]
}

function pending(place: Place, attachment: Attachment): Attached {
  const { id: sessionId, branch } = place.session
  const base = { sessionId, parentId: lastId(place), branch }
  if (attachment.type === "image") {
    const { source, mode = "auto" } = attachment
    return Message.make({ ...base, type: "image", data: { source, mode, state: "pending" } })
  }
  const { type, ...asked } = attachment
  return Message.make({ ...base, type, data: { ...asked, status: "pending" } })
}

/** What an interruption leaves unresolved stays in the history, to be resolved another time. */
async function resolveOrLeave(message: Attached, place: Place): Promise<Attached> {
  try {
    return await resolve(message, place)
  } catch (error) {
    if (place.signal.aborted) return message
    throw error
  }
}

async function resolve(message: Attached, place: Place): Promise<Attached> {
  const attaching = createAttaching(message, place)
  if (message.type === "image") return { ...message, data: await recognizeImage(message.data, attaching) }
  const data = await resolveFile(message, attaching)
  if (data !== "image") return { ...message, data }
  const source = { kind: "file" as const, value: message.data.path }
  const image = await recognizeImage({ source, mode: "auto", state: "pending" }, attaching)
  return { ...message, type: "image", data: image }
}

function isAttached(message: Message.Info): message is Attached {
  return message.type === "file_reference" || message.type === "image"
}
