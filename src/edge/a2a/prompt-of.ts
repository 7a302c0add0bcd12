// Turns a message of a client into a prompt: texts and data become its text, images are attached. The message usually
// comes from another model, so `@path` and `/command` in it mean nothing.
import { type Message, type Part, Role } from "@a2a-js/sdk"
import { ContentTypeNotSupportedError, RequestMalformedError } from "@a2a-js/sdk/errors"
import type * as Session from "#engine/session/session.ts"

export type Prompt = { text: string; parts: Session.PromptPart[] }

/** The media types of parts. A card names them. */
export const inputModes = [
  "text/plain",
  "text/markdown",
  "application/json",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]

const maxParts = 1_000
const maxId = 200

/** Throws if the message cannot be a prompt: nothing of it is used then. */
export function promptOf(message: Message | undefined): Prompt {
  if (!message) throw new RequestMalformedError("message is missing")
  if (!message.messageId || message.messageId.length > maxId)
    throw new RequestMalformedError(`message.messageId must have 1 to ${maxId} characters`)
  if (message.contextId.length > maxId)
    throw new RequestMalformedError(`message.contextId has more than ${maxId} characters`)
  if (message.role !== Role.ROLE_USER) throw new RequestMalformedError("message.role must be ROLE_USER")
  if (!message.parts.length) throw new RequestMalformedError("message.parts is empty")
  if (message.parts.length > maxParts)
    throw new RequestMalformedError(`message.parts has more than ${maxParts} parts`)
  const texts: string[] = []
  const parts: Session.PromptPart[] = []
  for (const part of message.parts) {
    const image = imageOf(part)
    if (image) parts.push(image)
    else texts.push(textOf(part))
  }
  const text = texts.join("\n\n")
  if (!text.trim() && !parts.length) throw new RequestMalformedError("message.parts has no content")
  return { text, parts }
}

/** The message as it is kept in the history of a task: without the bytes of its files. */
export function withoutBytes(message: Message): Message {
  return { ...message, parts: message.parts.map(noteFor) }
}

function noteFor(part: Part): Part {
  if (part.content?.$case !== "raw") return part
  const value = `(${part.mediaType}, ${part.content.value.length} bytes)`
  return { ...part, content: { $case: "text", value } }
}

function imageOf({ content, mediaType }: Part): Session.PromptPart | undefined {
  if (content?.$case !== "raw" || !typeOf(mediaType).startsWith("image/")) return undefined
  refuseType(mediaType)
  const value = content.value.toString("base64")
  return { type: "image", source: { kind: "base64", value, mimeType: typeOf(mediaType) } }
}

function textOf({ content, mediaType, filename }: Part): string {
  if (mediaType) refuseType(mediaType)
  const name = filename ? `${filename}:\n` : ""
  switch (content?.$case) {
    case "text":
      return name + content.value
    case "data":
      return `${name}${JSON.stringify(content.value, undefined, 2)}`
    // The agent may fetch it, if its rules allow that.
    case "url":
      return name + content.value
    case "raw":
      if (!mediaType)
        throw new ContentTypeNotSupportedError(`A raw part needs a mediaType: ${inputModes.join(", ")}`)
      return name + new TextDecoder().decode(content.value)
    default:
      throw new RequestMalformedError("a part has no text, raw, url or data")
  }
}

function refuseType(mediaType: string): void {
  const type = typeOf(mediaType)
  if (inputModes.includes(type) || (type.startsWith("text/") && type.length < 100)) return
  throw new ContentTypeNotSupportedError(
    `The media type ${JSON.stringify(mediaType.slice(0, 100))} is not supported. Supported: ${inputModes.join(", ")}`,
  )
}

function typeOf(mediaType: string): string {
  return mediaType.split(";", 1)[0]!.trim().toLowerCase()
}
