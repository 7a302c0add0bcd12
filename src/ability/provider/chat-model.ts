// A model that is spoken to in OpenAI's chat completions: one fetch, one stream from its bytes to parts. The AI SDK's
// package does the same in four streams with a schema for every chunk, which costs more than the rest of a turn.
import {
  EmptyResponseBodyError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
  type SharedV4Warning,
} from "@ai-sdk/provider"
import { brokenOff, refused, unreachable } from "./chat-errors.ts"
import { generateFrom } from "./chat-generate.ts"
import { buildRequest } from "./chat-request.ts"
import { type ChunkReader, createChunkReader } from "./chunk-reader.ts"
import { createLineReader } from "./line-reader.ts"

export type ChatModelConfig = {
  providerId: string
  modelId: string
  url: string
  /** Names in lower case. */
  headers: Record<string, string>
  limitName: "max_tokens" | "max_completion_tokens"
}

/** How long a server that said everything may take to close, so that its connection can be used again. */
const closingTime = 1_000

export function createChatModel(config: ChatModelConfig): LanguageModelV4 {
  const { providerId, modelId } = config

  async function doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const { body, warnings, optionsName } = buildRequest(options, config)
    const response = await send(body, options, config)
    if (!response.ok) throw await refused(response, config.url)
    if (!response.body) throw new EmptyResponseBodyError({})
    const chunks = createChunkReader({ optionsName, raw: options.includeRawChunks === true })
    const stream = partsOf({ response, chunks, warnings, options, url: config.url })
    return { stream, request: { body }, response: { headers: Object.fromEntries(response.headers) } }
  }

  return Object.freeze({
    specificationVersion: "v4" as const,
    provider: `${providerId}.chat`,
    modelId,
    supportedUrls: {},
    doStream,
    doGenerate: async (options: LanguageModelV4CallOptions) =>
      generateFrom(await doStream(options), config.url),
  })
}

async function send(
  body: string,
  { headers, abortSignal }: LanguageModelV4CallOptions,
  config: ChatModelConfig,
): Promise<Response> {
  const all: Record<string, string> = {
    "content-type": "application/json",
    "user-agent": "vitamin",
    ...config.headers,
  }
  for (const [name, value] of Object.entries(headers ?? {}))
    if (value !== undefined) all[name.toLowerCase()] = value
  try {
    return await fetch(config.url, { method: "POST", headers: all, body, signal: abortSignal ?? null })
  } catch (error) {
    throw abortSignal?.aborted ? abortSignal.reason : unreachable(error, config.url)
  }
}

type Reading = {
  response: Response
  chunks: ChunkReader
  warnings: SharedV4Warning[]
  options: LanguageModelV4CallOptions
  url: string
}

function partsOf({
  response,
  chunks,
  warnings,
  options,
  url,
}: Reading): ReadableStream<LanguageModelV4StreamPart> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const lines = createLineReader(chunks.take)
  const { abortSignal } = options

  /** Read until there is something to hand out. Says whether more can come. */
  async function fill(): Promise<boolean> {
    while (chunks.parts.length === 0) {
      const { done, value } = await reader.read()
      if (done) lines.end()
      else lines.add(value)
      if (!done && !chunks.ended()) continue
      chunks.end()
      if (!done) leave(reader)
      return false
    }
    return true
  }

  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start: (controller) => controller.enqueue({ type: "stream-start", warnings }),
      async pull(controller) {
        try {
          const more = await fill()
          for (const part of chunks.parts) controller.enqueue(part)
          chunks.parts.length = 0
          if (!more) controller.close()
        } catch (error) {
          controller.error(abortSignal?.aborted ? abortSignal.reason : brokenOff(error, response, url))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** What follows the last word is the end of the connection's answer; one that goes on is cut. */
function leave(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const cancel = () => void reader.cancel().catch(() => {})
  const timer = setTimeout(cancel, closingTime)
  reader.read().then(
    ({ done }) => {
      clearTimeout(timer)
      if (!done) cancel()
    },
    () => clearTimeout(timer),
  )
}
