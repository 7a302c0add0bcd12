// Builds the body of a chat-completions request, in pieces. The bytes of a message are created once for all requests
// and stored side by side in larger blocks, so that a long conversation is sent in a few pieces.
import {
  type LanguageModelV4CallOptions,
  type LanguageModelV4FilePart,
  type LanguageModelV4Message,
  type LanguageModelV4ToolCallPart,
  type LanguageModelV4ToolResultPart,
  type SharedV4Warning,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider"
import { createIncrementalConverter } from "#ability/provider/request/normalize-messages.ts"
import type { ChatModelConfig } from "./chat-model.ts"

type Fields = Record<string, unknown>
type BuiltRequest = {
  body: Buffer[]
  warnings: SharedV4Warning[]
}

/** Blocks grow with the number of bytes that are stored. */
const blockBytes = { least: 1 << 16, most: 1 << 20 }

type Content<R extends string> = Extract<LanguageModelV4Message, { role: R }>["content"]

export function createRequestBuilder(config: ChatModelConfig) {
  const { providerId } = config
  const { bytesOf } = createMessageBytes((message) => textOf(message, providerId))
  const piecesOf = createIncrementalConverter((pieces: Buffer[], message) =>
    addPiece(pieces, bytesOf(message)),
  )

  return function build(options: LanguageModelV4CallOptions): BuiltRequest {
    const { prompt, providerOptions } = options
    const last = { ...toolFields(options), stream: true, stream_options: { include_usage: true } }
    const first: Fields = { ...settings(options, config), ...providerOptions?.[providerId] }
    for (const name of ["messages", ...Object.keys(last)]) delete first[name]
    const [begin, ...more] = piecesOf(prompt, undefined)
    const body = [
      Buffer.from(`${JSON.stringify(first).slice(0, -1)},"messages":[`),
      // Each message begins with a comma, which the first one must not have.
      ...(begin ? [begin.subarray(1)] : []),
      ...more,
      Buffer.from(`],${JSON.stringify(last).slice(1)}`),
    ]
    return { body, warnings: warningsOf(options) }
  }
}

function textOf(message: LanguageModelV4Message, providerId: string): string {
  return chatMessages(message, providerId)
    .map((fields) => `,${JSON.stringify(fields)}`)
    .join("")
}

function settings(options: LanguageModelV4CallOptions, config: ChatModelConfig): Fields {
  return {
    model: config.modelId,
    [config.limitName]: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    response_format: options.responseFormat?.type === "json" ? { type: "json_object" } : undefined,
    stop: options.stopSequences,
    seed: options.seed,
    reasoning_effort: options.reasoning === "provider-default" ? undefined : options.reasoning,
  }
}

function toolFields({ tools, toolChoice }: LanguageModelV4CallOptions): Fields {
  if (!tools?.length) return {}
  const functions = tools.flatMap((tool) => {
    if (tool.type !== "function") return []
    const { name, description, inputSchema: parameters, strict } = tool
    return [{ type: "function", function: { name, description, parameters, strict } }]
  })
  if (!toolChoice) return { tools: functions }
  const tool_choice =
    toolChoice.type === "tool"
      ? { type: "function", function: { name: toolChoice.toolName } }
      : toolChoice.type
  return { tools: functions, tool_choice }
}

function warningsOf({ topK, responseFormat, tools }: LanguageModelV4CallOptions): SharedV4Warning[] {
  const unsupported: string[] = []
  if (topK !== undefined) unsupported.push("topK")
  if (responseFormat?.type === "json" && responseFormat.schema) unsupported.push("responseFormat")
  for (const tool of tools ?? [])
    if (tool.type === "provider") unsupported.push(`provider-defined tool ${tool.id}`)
  return unsupported.map((feature) => ({ type: "unsupported", feature }))
}

/** Only frozen messages are cached, because they cannot change. */
export function createMessageBytes(write: (message: LanguageModelV4Message) => string) {
  const known = new WeakMap<LanguageModelV4Message, Buffer>()
  let block = Buffer.alloc(0)
  let used = 0
  let stored = 0

  function bytesOf(message: LanguageModelV4Message): Buffer {
    if (!Object.isFrozen(message)) return Buffer.from(write(message))
    const bytes = known.get(message) ?? store(write(message))
    known.set(message, bytes)
    return bytes
  }

  function store(text: string): Buffer {
    const size = Buffer.byteLength(text)
    const next = Math.min(Math.max(stored >> 4, blockBytes.least), blockBytes.most)
    stored += size
    if (size > next / 4) return Buffer.from(text)
    if (used + size > block.length) {
      block = Buffer.allocUnsafeSlow(next)
      used = 0
    }
    block.write(text, used)
    used += size
    return block.subarray(used - size, used)
  }

  return Object.freeze({ bytesOf })
}

/** Appends bytes; extends the last piece if both are adjacent in memory, so that there are few pieces. */
export function addPiece(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1)
  const isBeside = last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset
  if (isBeside)
    pieces[pieces.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + piece.length)
  else if (piece.length) pieces.push(piece)
}

/** Each tool result becomes a message of its own. */
function chatMessages(message: LanguageModelV4Message, providerId: string): Fields[] {
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
