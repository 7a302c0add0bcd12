// Converts a message of a prompt into messages of a chat-completions request.
import {
  type LanguageModelV4FilePart,
  type LanguageModelV4Message,
  type LanguageModelV4ToolCallPart,
  type LanguageModelV4ToolResultPart,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider"

type Fields = Record<string, unknown>
type Content<R extends string> = Extract<LanguageModelV4Message, { role: R }>["content"]

/** Each tool result becomes a message of its own. */
export function chatMessages(message: LanguageModelV4Message, providerId: string): Fields[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }]
    case "user":
      return [{ role: "user", content: userContent(message.content) }]
    case "assistant":
      return [assistantMessage(message.content, providerId)]
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result" ? [toolMessage(part)] : []))
  }
}

function userContent(content: Content<"user">): string | Fields[] {
  const [first, ...more] = content
  if (first?.type === "text" && more.length === 0) return first.text
  return content.map((part) => (part.type === "text" ? { type: "text", text: part.text } : filePart(part)))
}

function filePart({ data, mediaType, filename }: LanguageModelV4FilePart): Fields {
  const kind = mediaType.split("/")[0]
  if (data.type === "text" && kind === "text") return { type: "text", text: data.text }
  if (data.type === "url") {
    const url = data.url.toString()
    if (kind === "image") return { type: "image_url", image_url: { url } }
    if (kind === "video") return { type: "video_url", video_url: { url } }
    if (kind === "text") return { type: "text", text: url }
  }
  if (data.type === "data") {
    const base64 = typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64")
    const url = `data:${fullType(mediaType)};base64,${base64}`
    if (kind === "image") return { type: "image_url", image_url: { url } }
    if (kind === "video") return { type: "video_url", video_url: { url } }
    if (kind === "text") return { type: "text", text: Buffer.from(base64, "base64").toString("utf8") }
    const format = /^audio\/(wav|mp3|mpeg)$/.exec(mediaType)?.[1]?.replace("mpeg", "mp3")
    if (format) return { type: "input_audio", input_audio: { data: base64, format } }
    if (mediaType === "application/pdf")
      return { type: "file", file: { filename: filename ?? "document.pdf", file_data: url } }
  }
  throw new UnsupportedFunctionalityError({ functionality: `file part ${mediaType} as ${data.type}` })
}

/** Servers detect the format of an image by its bytes, but a data URL needs a complete media type. */
function fullType(mediaType: string): string {
  if (/^[^/]+\/[^*]+$/.test(mediaType)) return mediaType
  return mediaType.startsWith("video") ? "video/mp4" : "image/png"
}

function assistantMessage(content: Content<"assistant">, providerId: string): Fields {
  let text = ""
  let reasoning = ""
  const calls: Fields[] = []
  for (const part of content)
    if (part.type === "text") text += part.text
    else if (part.type === "reasoning") reasoning += part.text
    else if (part.type === "tool-call") {
      const call = { name: part.toolName, arguments: argumentsOf(part.input) }
      const signature = signatureOf(part, providerId)
      calls.push({
        id: part.toolCallId,
        type: "function",
        function: call,
        ...(signature ? { extra_content: { google: { thought_signature: String(signature) } } } : {}),
      })
    }
  return {
    role: "assistant",
    content: calls.length ? text || null : text,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(calls.length ? { tool_calls: calls } : {}),
  }
}

/** Gemini wants the signature of a thought back with the call that it led to. */
function signatureOf({ providerOptions }: LanguageModelV4ToolCallPart, providerId: string): unknown {
  return providerOptions?.[providerId]?.thoughtSignature ?? providerOptions?.google?.thoughtSignature
}

function argumentsOf(input: unknown): string {
  if (typeof input !== "string") return JSON.stringify(input)
  try {
    JSON.parse(input)
    return input
  } catch {
    return JSON.stringify(input)
  }
}

function toolMessage(part: LanguageModelV4ToolResultPart): Fields {
  return { role: "tool", tool_call_id: part.toolCallId, content: resultText(part.output) }
}

function resultText(output: LanguageModelV4ToolResultPart["output"]): string {
  if (output.type === "text" || output.type === "error-text") return output.value
  if (output.type === "execution-denied") return output.reason ?? "Tool call execution denied."
  return JSON.stringify(output.value)
}
