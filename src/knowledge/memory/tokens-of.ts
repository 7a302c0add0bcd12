// The size of a message in a request: in tokens, estimated high, and in characters. A message is measured once: its
// sent part does not change after it was written.
import type * as Message from "#knowledge/message/message.ts"
import { estimateTokens } from "./estimate-tokens.ts"

/** Roles, names and brackets around the words. */
const frame = 8
/** What providers count for a picture of the largest size that they do not scale down. */
const picture = 2_500
/** Of a document that is sent as it is: characters of Base64 to a token. */
const perDocumentToken = 16

const known = new WeakMap<Message.Info, number>()

export function tokensOf(message: Message.Info): number {
  const before = known.get(message)
  if (before !== undefined) return before
  const { words, extra } = contentOf(message)
  const tokens = words.reduce((sum, text) => sum + estimateTokens(text) + frame, extra)
  // The description of an image is added later.
  if (message.type !== "image") known.set(message, tokens)
  return tokens
}

/** The characters of its words, without looking deep into them. */
export function charactersOf(message: Message.Info): number {
  switch (message.type) {
    case "text":
      return message.data.parts.reduce((sum, { text }) => sum + text.length, 0)
    case "tool_result":
      return outputText(message.data).length
    case "tool_request":
      return message.data.calls.reduce((sum, { arguments: given, invalid = "" }) => {
        for (const value of Object.values(given ?? {})) if (typeof value === "string") sum += value.length
        return sum + invalid.length
      }, 0)
    case "file_reference":
      return message.data.content?.length ?? 0
    case "mcp_resource":
      return isBinary(message.data.mimeType) ? 0 : message.data.content.length
    default:
      return 0
  }
}

/** A result in words, as it is sent. */
export function outputText({ output }: Pick<Message.Of<"tool_result">["data"], "output">): string {
  return typeof output === "string" ? output : JSON.stringify(output)
}

/** Sent as it is, not as words. */
export function isBinary(mimeType = ""): boolean {
  return isImage(mimeType) || mimeType === "application/pdf"
}

function isImage(mimeType: string): boolean {
  return /^image\/(?!svg)/.test(mimeType)
}

function contentOf(message: Message.Info): { words: string[]; extra: number } {
  switch (message.type) {
    case "text":
      return { words: message.data.parts.map(({ text }) => text), extra: 0 }
    case "tool_request":
      return {
        words: message.data.calls.map(
          ({ name, arguments: given, invalid, id }) => `${id} ${name} ${invalid ?? JSON.stringify(given)}`,
        ),
        // The result that each call has in a request, also where none was written.
        extra: 30 * message.data.calls.length,
      }
    case "tool_result":
      return { words: [outputText(message.data), message.data.error?.message ?? ""], extra: 0 }
    case "file_reference":
      return { words: [message.data.path, message.data.content ?? message.data.error ?? ""], extra: 0 }
    case "image": {
      const { recognizedText = "", visionAnalysis = "", error = "" } = message.data
      return { words: [recognizedText, visionAnalysis, error], extra: picture }
    }
    case "mcp_resource": {
      const { content, mimeType = "", resourceUri } = message.data
      if (isImage(mimeType)) return { words: [resourceUri], extra: picture }
      if (mimeType !== "application/pdf") return { words: [resourceUri, content], extra: 0 }
      return { words: [resourceUri], extra: picture + Math.ceil(content.length / perDocumentToken) }
    }
    case "system_control":
    case "unknown":
      return { words: [], extra: 0 }
  }
}
