// Estimates the tokens of texts and messages in a request, and counts their characters. The tokens of a message are
// cached: the part of it that is sent does not change after it was written.
import type * as Message from "#knowledge/message/message.ts"

/** Tokens for the role, the names and the JSON syntax around one text. */
const frame = 8
/** Tokens for one image: what providers count for the largest one that they do not scale down. */
const picture = 2_500
/** Characters of Base64 for each token of a document that is sent as a file. */
const perDocumentToken = 16

const known = new WeakMap<Message.Info, number>()

const kinds = { lower: 0, upper: 1, digit: 2, blank: 3, sign: 4 }
const kindOf = new Uint8Array(128).fill(kinds.sign)
for (let code = 0; code < 128; code++) {
  const letter = String.fromCharCode(code)
  if (/[a-z]/.test(letter)) kindOf[code] = kinds.lower
  if (/[A-Z]/.test(letter)) kindOf[code] = kinds.upper
  if (/[0-9]/.test(letter)) kindOf[code] = kinds.digit
  if (/[ \t]/.test(letter)) kindOf[code] = kinds.blank
}

/** Estimates the tokens of a text without a tokenizer, rather too high than too low: too high wastes a little of the
 * budget, too low makes the request fail. Lower-case English is close to what models count. A digit, a capital or a sign
 * counts as one token, because JSON, Base64 and hashes consist of them; a letter outside ASCII counts as one or two. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let before = -1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    tokens += code < 128 ? ofAscii(code, before) : ofOther(code)
    before = code
  }
  return Math.ceil(tokens)
}

/** The first lines of a text, as many as fit. If the first line does not fit, it is cut. */
export function cutToTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  const kept: string[] = []
  let left = tokens
  for (const line of text.split("\n")) {
    left -= estimateTokens(line) + 1
    if (left < 0) break
    kept.push(line)
  }
  // No character counts as more than two tokens.
  return kept.length ? kept.join("\n").trimEnd() : text.slice(0, Math.floor(tokens / 2)).toWellFormed()
}

export function tokensOf(message: Message.Info): number {
  const before = known.get(message)
  if (before !== undefined) return before
  const { words, extra } = contentOf(message)
  const tokens = words.reduce((sum, text) => sum + estimateTokens(text) + frame, extra)
  // The description of an image is added later.
  if (message.type !== "image") known.set(message, tokens)
  return tokens
}

/** The approximate number of characters that are sent of a message: nested arguments are not counted. */
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

/** The text that is sent of a result. */
export function outputText({ output }: Pick<Message.Of<"tool_result">["data"], "output">): string {
  return typeof output === "string" ? output : JSON.stringify(output)
}

/** Whether a resource of this type is sent as a file, not as text. */
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
        // Every call has a result in a request, even if none was stored.
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

function ofAscii(code: number, before: number): number {
  const kind = kindOf[code]
  if (kind === kinds.lower) return isLower(before) ? 0.3 : 0.5
  // A blank is part of the word after it; only runs of blanks count.
  if (kind === kinds.blank) return code === before ? 0.25 : 0
  if (kind === kinds.sign) return code === before ? 0.3 : 1
  return 1
}

/** 1.5 for half of a surrogate pair, 1 for accented letters, Greek, Cyrillic, Hebrew or Arabic, 2 for all others, such as
 * Chinese. */
function ofOther(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return 1.5
  return code < 0x800 ? 1 : 2
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122
}
