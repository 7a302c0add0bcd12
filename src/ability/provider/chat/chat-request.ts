// The body of a chat-completions request, in pieces. The bytes of a message are made once for all requests that it is in, and
// lie side by side in larger blocks, so that a long conversation leaves in a few pieces.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
  SharedV4Warning,
} from "@ai-sdk/provider"
import { createIncrementalConverter } from "#ability/provider/request/normalize-messages.ts"
import { chatMessages } from "./chat-messages.ts"
import type { ChatModelConfig } from "./chat-model.ts"

type Fields = Record<string, unknown>
type BuiltRequest = {
  body: Buffer[]
  warnings: SharedV4Warning[]
  /** Under which name the provider's own metadata stand. */
  optionsName: string
}

/** Blocks are small at first, and larger the more there is to hold. */
const blockBytes = { least: 1 << 16, most: 1 << 20 }

export function createRequestBuilder(config: ChatModelConfig) {
  const names = namesOf(config.providerId)
  const { bytesOf } = createMessageBytes(textOf)
  const piecesOf = createIncrementalConverter((pieces: Buffer[], message, optionsName: string) =>
    addPiece(pieces, bytesOf(message, optionsName)),
  )

  return function build(options: LanguageModelV4CallOptions): BuiltRequest {
    const { prompt, providerOptions } = options
    const optionsName = names.find((name) => providerOptions?.[name]) ?? names.at(-1)!
    const last = { ...toolFields(options), stream: true, stream_options: { include_usage: true } }
    const first = { ...settings(options, config), ...ownFields(names, providerOptions, options.reasoning) }
    for (const name of ["messages", ...Object.keys(last)]) delete first[name]
    const [begin, ...more] = piecesOf(prompt, optionsName)
    const body = [
      Buffer.from(`${JSON.stringify(first).slice(0, -1)},"messages":[`),
      // Each message begins with a comma, which the first one has no use for.
      ...(begin ? [begin.subarray(1)] : []),
      ...more,
      Buffer.from(`],${JSON.stringify(last).slice(1)}`),
    ]
    return { body, warnings: warningsOf(options), optionsName }
  }
}

function textOf(message: LanguageModelV4Message, optionsName: string): string {
  return chatMessages([message], optionsName)
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
  }
}

/** The camel-cased name is the one that counts; the plain one is taken too. */
function namesOf(providerId: string): string[] {
  const plain = providerId.split(".")[0]!.trim()
  const camel = plain.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return camel === plain ? [plain] : [camel, plain]
}

/** A provider's own options go into the body as they are, but for those that have a name in camel case. */
function ownFields(
  names: string[],
  given: SharedV4ProviderOptions | undefined,
  reasoning: LanguageModelV4CallOptions["reasoning"],
): Fields {
  const own: Fields = {}
  for (const name of names.toReversed()) Object.assign(own, given?.[name])
  const { user, reasoningEffort, textVerbosity } = {
    ...given?.["openai-compatible"],
    ...given?.openaiCompatible,
    ...own,
  } as Fields
  const { user: _, reasoningEffort: __, textVerbosity: ___, strictJsonSchema: ____, ...plain } = own
  const level = reasoning === "provider-default" ? undefined : reasoning
  const effort = reasoningEffort === undefined ? level : reasoningEffort
  return {
    ...(user === undefined ? {} : { user }),
    ...plain,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(textVerbosity === undefined ? {} : { verbosity: textVerbosity }),
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

/** `form` names what `write` makes of a message, where there is more than one way. Only a frozen message is remembered:
 * it cannot change. */
export function createMessageBytes(write: (message: LanguageModelV4Message, form: string) => string) {
  const known = new WeakMap<LanguageModelV4Message, { form: string; bytes: Buffer }>()
  let block = Buffer.alloc(0)
  let used = 0
  let stored = 0

  function bytesOf(message: LanguageModelV4Message, form: string): Buffer {
    const before = known.get(message)
    if (before?.form === form) return before.bytes
    if (!Object.isFrozen(message)) return Buffer.from(write(message, form))
    const bytes = store(write(message, form))
    known.set(message, { form, bytes })
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

/** Add bytes behind others; to the last of those where they lie side by side, so that the pieces are few. */
export function addPiece(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1)
  const isBeside = last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset
  if (isBeside)
    pieces[pieces.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + piece.length)
  else if (piece.length) pieces.push(piece)
}
