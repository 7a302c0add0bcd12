// Converts the chunks of a chat-completions stream into parts. Calls and the finish are returned only at the end, and only if
// the server sent a finish reason, so that a broken stream does not look complete.
import {
  InvalidResponseDataError,
  JSONParseError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
} from "@ai-sdk/provider"
import { type CallDelta, createCallReader } from "./call-reader.ts"

type Usage = {
  prompt_tokens?: number | null
  completion_tokens?: number | null
  prompt_tokens_details?: { cached_tokens?: number | null } | null
  completion_tokens_details?: { reasoning_tokens?: number | null } | null
}
type Delta = {
  content?: unknown
  refusal?: unknown
  reasoning_content?: unknown
  reasoning?: unknown
  tool_calls?: CallDelta[] | null
}
type Chunk = {
  id?: string | null
  created?: number | null
  model?: string | null
  /** A server that does not stream sends one chunk, with a `message`. */
  choices?: { delta?: Delta | null; message?: Delta | null; finish_reason?: string | null }[] | null
  usage?: Usage | null
  error?: unknown
}
type Kind = "text" | "reasoning"

export type ChunkReader = {
  /** The parts that were not returned yet; the caller empties it. */
  parts: LanguageModelV4StreamPart[]
  take(data: string, whole: boolean): void
  /** The server has finished, or failed. */
  ended(): boolean
  end(): void
}

const ids = { text: "txt-0", reasoning: "reasoning-0" }

export function createChunkReader(options: { providerId: string; raw: boolean }): ChunkReader {
  const { providerId, raw } = options
  const parts: LanguageModelV4StreamPart[] = []
  const calls = createCallReader({ push: (part) => void parts.push(part), providerId })
  let state: "open" | "done" | "failed" = "open"
  let isDescribed = false
  let isRefusal = false
  let active: Kind | undefined
  let reason: string | undefined
  let usage: Usage | undefined

  function take(data: string, whole: boolean) {
    if (state !== "open") return
    if (data === "[DONE]") {
      state = "done"
      return
    }
    const value = parse(data, whole)
    if (value === undefined) return
    if (raw) parts.push({ type: "raw", rawValue: value })
    if (typeof value !== "object" || value === null)
      return fail(new InvalidResponseDataError({ data: value, message: `A chunk is not an object: ${data}` }))
    const chunk = value as Chunk
    if (chunk.error) return fail(chunk.error)
    if (!isDescribed) describe(chunk)
    if (chunk.usage) usage = chunk.usage
    const choice = chunk.choices?.[0]
    if (choice?.finish_reason) reason = choice.finish_reason
    const delta = choice?.delta ?? choice?.message
    if (delta) takeDelta(delta)
    // A message is whole, whether or not the server says why it ended.
    if (choice?.message) reason ??= "stop"
  }

  /** A cut last line is no error by itself: only a missing finish reason is. */
  function parse(data: string, whole: boolean): unknown {
    try {
      return JSON.parse(data)
    } catch (cause) {
      if (whole) fail(new JSONParseError({ text: data, cause }))
      return undefined
    }
  }

  function fail(error: unknown) {
    state = "failed"
    parts.push({ type: "error", error })
  }

  /** Some servers begin with a chunk without id, model and time. */
  function describe({ id, model, created }: Chunk) {
    if (!id && !model && !created) return
    isDescribed = true
    parts.push({
      type: "response-metadata",
      ...(id ? { id } : {}),
      ...(model ? { modelId: model } : {}),
      ...(created ? { timestamp: new Date(created * 1000) } : {}),
    })
  }

  function takeDelta(delta: Delta) {
    say("reasoning", delta.reasoning_content ?? delta.reasoning)
    if (Array.isArray(delta.content)) for (const part of delta.content) sayPart(part)
    else say("text", delta.content)
    if (delta.refusal && typeof delta.refusal === "string") isRefusal = true
    say("text", delta.refusal)
    if (!Array.isArray(delta.tool_calls) || !delta.tool_calls.length) return
    if (active === "reasoning") stop()
    for (const call of delta.tool_calls) if (call) calls.take(call)
  }

  /** Mistral sends its thoughts as parts of the content. */
  function sayPart(part: { type?: string; text?: unknown; thinking?: unknown } | null) {
    if (part?.type === "text") say("text", part.text)
    if (part?.type === "thinking" && Array.isArray(part.thinking))
      for (const thought of part.thinking as ({ text?: unknown } | null)[]) say("reasoning", thought?.text)
  }

  function say(kind: Kind, delta: unknown) {
    if (!delta || typeof delta !== "string") return
    const id = ids[kind]
    if (active !== kind) {
      stop()
      parts.push({ type: `${kind}-start`, id })
      active = kind
    }
    parts.push({ type: `${kind}-delta`, id, delta })
  }

  function stop() {
    if (active) parts.push({ type: `${active}-end`, id: ids[active] })
    active = undefined
  }

  function end() {
    if (state === "failed" || reason === undefined) return
    stop()
    calls.end()
    parts.push({
      type: "finish",
      finishReason: { unified: unified(reason, isRefusal), raw: reason },
      usage: usageOf(usage),
      providerMetadata: { [providerId]: {} },
    })
  }

  return Object.freeze({ parts, take, ended: () => state !== "open", end })
}

/** OpenAI ends a refusal like any other answer. */
function unified(reason: string, isRefusal: boolean): LanguageModelV4FinishReason["unified"] {
  if (reason === "stop") return isRefusal ? "content-filter" : "stop"
  if (reason === "length") return "length"
  if (reason === "content_filter") return "content-filter"
  return reason === "tool_calls" || reason === "function_call" ? "tool-calls" : "other"
}

function usageOf(usage: Usage | undefined): LanguageModelV4Usage {
  const none = undefined
  if (!usage)
    return {
      inputTokens: { total: none, noCache: none, cacheRead: none, cacheWrite: none },
      outputTokens: { total: none, text: none, reasoning: none },
    }
  const input = usage.prompt_tokens ?? 0
  const output = usage.completion_tokens ?? 0
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0
  return {
    inputTokens: { total: input, noCache: input - cacheRead, cacheRead, cacheWrite: none },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
    raw: usage as NonNullable<LanguageModelV4Usage["raw"]>,
  }
}
