// Collects one answer of a model from its stream. An answer counts as complete only if the stream said that it is
// finished; a cut answer must never pass for a complete one.
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider"
import type { PartReader } from "#ability/provider/provider.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"

/** Models end their answers at about half a million characters. */
const maxCharacters = 8_000_000
const maxCalls = 256
/** The overhead of a part, in characters. */
const partCost = 100

type Finish = LanguageModelV4FinishReason["unified"] | "cannot"
export type Answer = {
  parts: Message.Part[]
  calls: { id: string; name: string; input: string; providerMetadata?: unknown }[]
  finish?: Finish
  usage?: LanguageModelV4Usage
  /** The model that answered, as the provider names it. */
  model?: string
}

export class Unfinished extends NamedError {
  constructor() {
    super("Session.Unfinished", "The model's answer broke off before its end.")
  }
}

export class EmptyAnswer extends NamedError {
  /** Whether a retry could help. */
  readonly isTransient: boolean

  constructor(finish: Finish) {
    const isCut = finish === "length"
    const text = isCut
      ? "The model reached its limit of output tokens before it said anything. Use another --model, or raise maxTokens of the agent."
      : "The model gave an empty answer."
    super("Session.EmptyAnswer", text, { finish })
    this.isTransient = !isCut
  }
}

/** The request is retried once. If that fails too, the partial answer is stored, but none of its calls runs. */
export class Filtered extends NamedError {
  constructor() {
    const text =
      "The provider's content filter blocked the answer. Change the request, or use another --model."
    super("Session.Filtered", text, { finish: "content-filter" })
  }
}

/** No model sends so much in one answer: the stream is broken or hostile. */
class AnswerTooLong extends NamedError {
  constructor(what: string) {
    super("Session.AnswerTooLong", `The model's answer was stopped: it has more than ${what}.`)
  }
}

/** The provider reported an error in the middle of an answer. */
export class ProviderFault extends NamedError {
  readonly statusCode?: number

  constructor(said: unknown) {
    const { message, statusCode } = (said ?? {}) as { message?: unknown; statusCode?: unknown }
    const text = typeof message === "string" && message ? message : (JSON.stringify(said) ?? String(said))
    super("Session.ProviderFault", `The provider failed: ${text}`)
    if (typeof statusCode === "number") this.statusCode = statusCode
  }
}

/** Read an answer to its end. `onText` gets text and reasoning as they arrive; `answer` grows with them. */
export async function collect(options: {
  reader: PartReader
  answer: Answer
  signal: AbortSignal
  onPart: (type: LanguageModelV4StreamPart["type"]) => void
  onText: (kind: "text" | "reasoning", text: string) => void
}): Promise<void> {
  const { reader, answer, signal, onPart, onText } = options
  const open = new Map<string, Message.Part>()
  const inputs = new Map<string, number>()
  let size = 0
  // Also ends a stream that ignores the signal, and closes the connection of one that we leave early.
  const leave = () => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", leave, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) break
      onPart(value.type)
      take(value)
    }
  } finally {
    signal.removeEventListener("abort", leave)
    leave()
  }
  finishUp(answer)

  function count(characters: number): void {
    size += characters
    if (size > maxCharacters) throw new AnswerTooLong(`${maxCharacters / 1e6} million characters`)
  }

  function take(value: LanguageModelV4StreamPart): void {
    switch (value.type) {
      case "text-start":
      case "reasoning-start":
        count(partCost)
        open.set(key(value), begin(answer, value))
        break
      case "text-delta":
      case "reasoning-delta": {
        count(value.delta.length + (open.has(key(value)) ? 0 : partCost))
        const part = open.get(key(value)) ?? begin(answer, value)
        open.set(key(value), part)
        part.text += value.delta
        addMetadata(part, value.providerMetadata)
        onText(part.type, value.delta)
        break
      }
      case "text-end":
      case "reasoning-end":
        addMetadata(open.get(key(value)), value.providerMetadata)
        break
      // The client assembles the pieces and sends the whole call later, which is not counted again.
      case "tool-input-delta":
        count(value.delta.length + (inputs.has(value.id) ? 0 : partCost))
        inputs.set(value.id, (inputs.get(value.id) ?? 0) + value.delta.length)
        break
      case "tool-call":
        if (answer.calls.length >= maxCalls) throw new AnswerTooLong(`${maxCalls} tool calls`)
        count(Math.max(0, value.input.length - (inputs.get(value.toolCallId) ?? 0)))
        answer.calls.push({
          id: value.toolCallId,
          name: value.toolName,
          input: value.input,
          ...(value.providerMetadata ? { providerMetadata: value.providerMetadata } : {}),
        })
        break
      case "response-metadata":
        if (value.modelId) answer.model = value.modelId
        break
      case "finish":
        answer.finish = finishOf(value.finishReason)
        answer.usage = value.usage
        break
      case "error":
        throw value.error instanceof Error ? value.error : new ProviderFault(value.error)
    }
  }
}

/** The built-in model finishes with "cannot" if it leaves something undone. */
function finishOf({ unified, raw }: LanguageModelV4FinishReason): Finish {
  return unified === "other" && raw === "cannot" ? raw : unified
}

function finishUp(answer: Answer): void {
  const { finish, calls } = answer
  answer.parts = answer.parts.filter((part) => part.text !== "" || part.providerMetadata)
  // "interrupted": the stream ended, but did not say that the answer did.
  if (finish === undefined || finish === "error" || finish === "interrupted") throw new Unfinished()
  if (finish === "content-filter") throw new Filtered()
  if (!calls.length && !says(answer)) throw new EmptyAnswer(finish)
  const last = calls.at(-1)
  // The output limit cut off the arguments. An empty object would be another call, so it is made invalid.
  if (finish === "length" && last && ["", "{}"].includes(last.input.replaceAll(/\s/g, ""))) last.input = "{"
}

export function says({ parts }: Answer): boolean {
  return parts.some((part) => part.type === "text" && part.text.trim())
}

function key(part: { type: string; id: string }): string {
  return `${part.type.split("-")[0]} ${part.id}`
}

function begin(answer: Answer, part: { type: string; providerMetadata?: unknown }): Message.Part {
  const made = { type: part.type.startsWith("text") ? "text" : "reasoning", text: "" } as Message.Part
  addMetadata(made, part.providerMetadata)
  answer.parts.push(made)
  return made
}

/** Signatures of reasoning come at the end of a part, or on their own, and must go back unchanged. */
function addMetadata(part: Message.Part | undefined, metadata: unknown): void {
  if (!part || !metadata) return
  const all: Record<string, Message.JsonObject> = { ...part.providerMetadata }
  for (const [provider, fields] of Object.entries(metadata as typeof all))
    all[provider] = { ...all[provider], ...fields }
  part.providerMetadata = all
}
