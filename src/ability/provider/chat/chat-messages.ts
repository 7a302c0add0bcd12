// A prompt as the messages of a chat-completions request.
import {
  type LanguageModelV4FilePart,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4TextPart,
  type LanguageModelV4ToolResultPart,
  type SharedV4ProviderOptions,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider"

type Fields = Record<string, unknown>
type Content<R extends string> = Extract<LanguageModelV4Message, { role: R }>["content"]
type Optioned = { providerOptions?: SharedV4ProviderOptions }

export function chatMessages(prompt: LanguageModelV4Prompt, optionsName: string): Fields[] {
  const messages: Fields[] = []
  for (const message of prompt)
    switch (message.role) {
      case "system":
        messages.push({ role: "system", content: message.content, ...extras(message) })
        break
      case "user":
        messages.push(userMessage(message))
        break
      case "assistant":
        messages.push({ ...assistantMessage(message.content, optionsName), ...extras(message) })
        break
      case "tool":
        for (const part of message.content) if (part.type === "tool-result") messages.push(toolMessage(part))
        break
    }
  return messages
}

function extras({ providerOptions }: Optioned): Fields | undefined {
  return providerOptions?.openaiCompatible
}

function userMessage(message: Extract<LanguageModelV4Message, { role: "user" }>): Fields {
  const [first, ...more] = message.content
  if (first?.type === "text" && more.length === 0)
    return { role: "user", content: first.text, ...extras(first) }
  return { role: "user", content: message.content.map(contentPart), ...extras(message) }
}

function contentPart(part: LanguageModelV4TextPart | LanguageModelV4FilePart): Fields {
  return { ...(part.type === "text" ? { type: "text", text: part.text } : filePart(part)), ...extras(part) }
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

/** Servers look at the bytes of an image themselves, but want a whole type before them. */
function fullType(mediaType: string): string {
  if (/^[^/]+\/[^*]+$/.test(mediaType)) return mediaType
  return mediaType.startsWith("video") ? "video/mp4" : "image/png"
}

function assistantMessage(content: Content<"assistant">, optionsName: string): Fields {
  let text = ""
  let reasoning = ""
  const calls: Fields[] = []
  for (const part of content)
    if (part.type === "text") text += part.text
    else if (part.type === "reasoning") reasoning += part.text
    else if (part.type === "tool-call") {
      const call = { name: part.toolName, arguments: argumentsOf(part.input) }
      const signature = signatureOf(part, optionsName)
      calls.push({
        id: part.toolCallId,
        type: "function",
        function: call,
        ...extras(part),
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
function signatureOf({ providerOptions }: Optioned, optionsName: string): unknown {
  return providerOptions?.[optionsName]?.thoughtSignature ?? providerOptions?.google?.thoughtSignature
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
  return { role: "tool", tool_call_id: part.toolCallId, content: resultText(part.output), ...extras(part) }
}

function resultText(output: LanguageModelV4ToolResultPart["output"]): string {
  if (output.type === "text" || output.type === "error-text") return output.value
  if (output.type === "execution-denied") return output.reason ?? "Tool call execution denied."
  return JSON.stringify(output.value)
}
