// A language model over any text completion, in the format of FunctionGemma. A malformed call becomes a call with
// invalid arguments, so that the model gets an error.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from "@ai-sdk/provider"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { stops } from "./control-tokens.ts"
import { formatPrompt } from "./format-prompt.ts"
import type { OutputPart } from "./parse-function-calls.ts"
import { createOutputReader } from "./read-output.ts"

/** Completes a text up to its end or to a stop sequence, which is not returned. */
export type CompletionBackend = Readonly<{
  /** The size of its context window, in tokens. */
  contextSize: number
  countTokens(text: string, signal?: AbortSignal): Promise<number>
  complete(request: {
    prompt: string
    stop: string[]
    maxTokens: number
    signal?: AbortSignal
    /** Called with each piece. An empty piece means that the model is still working. */
    onToken?: (text: string) => void
    temperature?: number | undefined
    topK?: number | undefined
    topP?: number | undefined
    seed?: number | undefined
  }): Promise<{ finish: "stop" | "length"; promptTokens: number; tokens: number }>
  close(): Promise<void>
}>

class PromptTooLong extends NamedError {
  constructor(options: { modelId: string; tokens: number; limit: number }) {
    const { modelId, tokens, limit } = options
    super(
      "FunctionGemma.PromptTooLong",
      `The prompt is too long for local/${modelId}: it has ${tokens} tokens, and its context window ${limit}. A larger one: provider.local.models[${JSON.stringify(modelId)}].context in the configuration.`,
      options,
    )
  }
}

/** Tokens that must be left for the answer; with fewer it would break off at once. */
const leastAnswer = 16

export function createFunctionGemmaModel(config: {
  modelId: string
  backend: CompletionBackend
  /** The default limit of output tokens. */
  maxTokens: number
}): LanguageModelV4 {
  const { modelId, backend, maxTokens } = config

  async function doStream(options: LanguageModelV4CallOptions) {
    options.abortSignal?.throwIfAborted()
    const prompt = formatPrompt(options)
    const tokens = await backend.countTokens(prompt, options.abortSignal)
    if (tokens + leastAnswer > backend.contextSize)
      throw new PromptTooLong({ modelId, tokens, limit: backend.contextSize })
    const left = new AbortController()
    const signal = options.abortSignal ? AbortSignal.any([options.abortSignal, left.signal]) : left.signal
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      async start(controller) {
        controller.enqueue({ type: "stream-start", warnings: warningsOf(options) })
        try {
          await answer({ ...options, signal, promptText: prompt }, (part) => controller.enqueue(part))
          controller.close()
        } catch (error) {
          if (!left.signal.aborted) controller.error(error)
        }
      },
      cancel: () => left.abort(),
    })
    return { stream }
  }

  async function answer(
    options: LanguageModelV4CallOptions & { signal: AbortSignal; promptText: string },
    emit: (part: LanguageModelV4StreamPart) => void,
  ): Promise<void> {
    const { promptText, signal, temperature, topK, topP, seed, stopSequences = [], maxOutputTokens } = options
    const writer = createPartWriter(emit)
    const reader = createOutputReader()
    const { finish, ...counts } = await backend.complete({
      prompt: promptText,
      stop: [...stops, ...stopSequences],
      maxTokens: maxOutputTokens ?? maxTokens,
      signal,
      onToken: (piece) => {
        if (piece) writer.text(reader.add(piece))
        else emit({ type: "response-metadata", modelId })
      },
      temperature,
      topK,
      topP,
      seed,
    })
    for (const part of reader.end()) writer.part(part)
    const calls = writer.end()
    emit({ type: "finish", finishReason: finishOf(finish, calls), usage: usageOf(counts) })
  }

  return Object.freeze({
    specificationVersion: "v4" as const,
    provider: "local.functiongemma",
    modelId,
    supportedUrls: {},
    doStream,
    async doGenerate(options: LanguageModelV4CallOptions) {
      const { stream } = await doStream(options)
      return gather(stream)
    },
  })
}

function finishOf(finish: "stop" | "length", calls: number): LanguageModelV4FinishReason {
  if (finish === "length") return { unified: "length", raw: finish }
  return { unified: calls ? "tool-calls" : "stop", raw: finish }
}

function usageOf({ promptTokens, tokens }: { promptTokens: number; tokens: number }): LanguageModelV4Usage {
  return {
    inputTokens: { total: promptTokens, noCache: promptTokens, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: tokens, text: tokens, reasoning: 0 },
  }
}

function warningsOf({ responseFormat, toolChoice }: LanguageModelV4CallOptions): SharedV4Warning[] {
  const isForced = toolChoice?.type === "required" || toolChoice?.type === "tool"
  return [
    ...(responseFormat?.type === "json" ? [{ type: "unsupported" as const, feature: "responseFormat" }] : []),
    ...(isForced ? [{ type: "unsupported" as const, feature: "toolChoice" }] : []),
  ]
}

async function gather(stream: ReadableStream<LanguageModelV4StreamPart>) {
  const content: LanguageModelV4Content[] = []
  let text = ""
  let end: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined
  let warnings: SharedV4Warning[] = []
  for await (const part of stream) {
    if (part.type === "stream-start") warnings = part.warnings
    if (part.type === "text-delta") text += part.delta
    if (part.type === "tool-call") content.push(part)
    if (part.type === "finish") end = part
  }
  const { finishReason, usage } = end!
  return {
    content: [...(text ? [{ type: "text" as const, text }] : []), ...content],
    finishReason,
    usage,
    warnings,
  }
}

/** Writes the output of a model as the parts of a stream: the text as one part, then the calls. Call ids are random,
 * because counted ones could repeat after the prompt was shortened. */
function createPartWriter(emit: (part: LanguageModelV4StreamPart) => void) {
  const id = "text"
  let isOpen = false
  let calls = 0

  function text(delta: string): void {
    if (!delta || (!isOpen && !delta.trim())) return
    if (!isOpen) emit({ type: "text-start", id })
    isOpen = true
    emit({ type: "text-delta", id, delta })
  }

  function part(part: OutputPart): void {
    if (part.type === "text") text(part.text)
    else if (part.type === "call") call(part.name, JSON.stringify(part.args))
    else if (part.problem.functionName === undefined) text(part.problem.source)
    // Not valid JSON, so that the call cannot run; the gate reports it to the model.
    else call(part.problem.functionName, `${part.problem.message} ${part.problem.source}`)
  }

  function call(toolName: string, input: string): void {
    calls++
    emit({ type: "tool-call", toolCallId: createId("functiongemma"), toolName, input })
  }

  /** How many calls there were. */
  function end(): number {
    if (isOpen) emit({ type: "text-end", id })
    return calls
  }

  return Object.freeze({ text, part, end })
}
