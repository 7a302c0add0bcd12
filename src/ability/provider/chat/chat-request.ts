// The body of a chat-completions request, in pieces. The bytes of a message are made once for all requests that it is in, and
// lie side by side in larger blocks, so that a long conversation leaves in a few pieces.
import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4Warning } from "@ai-sdk/provider"
import { createIncrementalConverter } from "#ability/provider/request/normalize-messages.ts"
import { chatMessages } from "./chat-messages.ts"
import type { ChatModelConfig } from "./chat-model.ts"

type Fields = Record<string, unknown>
type BuiltRequest = {
  body: Buffer[]
  warnings: SharedV4Warning[]
}

/** Blocks grow with the number of bytes that are stored. */
const blockBytes = { least: 1 << 16, most: 1 << 20 }

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
