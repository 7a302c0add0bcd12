// Calls a model over OpenAI's chat completions API and converts the bytes of the answer to parts in one pass. The AI SDK's
// package uses four streams and a schema for every chunk, which takes longer than the rest of a turn.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4Warning,
} from "@ai-sdk/provider"
import { MessageTooLarge, messageLimit } from "#ability/provider/reach/errors.ts"
import { brokenOff, refused, unreachable } from "./chat-errors.ts"
import { generateFrom } from "./chat-generate.ts"
import { createRequestBuilder } from "./chat-request.ts"
import { type ChunkReader, createChunkReader } from "./chunk-reader.ts"
import { post, type Reply } from "./post.ts"

/** Reads the parts of an answer one by one. The reader of a ReadableStream fits this type. */
export type PartReader = Pick<ReadableStreamDefaultReader<LanguageModelV4StreamPart>, "read" | "cancel">
/** `reader` is faster than `stream`: a ReadableStream takes longer to load and to read. Use one of the two. */
export type Streamed = LanguageModelV4StreamResult & { reader?: PartReader }

export type ChatModelConfig = {
  providerId: string
  modelId: string
  url: string
  /** Names in lower case. */
  headers: Record<string, string>
  limitName: "max_tokens" | "max_completion_tokens"
}

/** How long a server may take to close after its last chunk, so that the connection can be reused. */
const closingTime = 1_000

export function createChatModel(config: ChatModelConfig): LanguageModelV4 {
  const { providerId, modelId } = config
  const build = createRequestBuilder(config)

  async function doStream(options: LanguageModelV4CallOptions): Promise<Streamed> {
    const { body, warnings } = build(options)
    const reply = await send(body, options, config)
    if (reply.status < 200 || reply.status > 299) throw await refused(reply, config.url)
    const chunks = createChunkReader({ providerId, raw: options.includeRawChunks === true })
    const reader = createPartReader({ reply, chunks, warnings, options, config })
    const request = {
      get body() {
        return Buffer.concat(body).toString()
      },
    }
    let stream: ReadableStream<LanguageModelV4StreamPart> | undefined
    return {
      reader,
      get stream() {
        stream ??= streamOf(reader)
        return stream
      },
      request,
      response: { headers: reply.headers },
    }
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
  body: Buffer[],
  { headers, abortSignal: signal }: LanguageModelV4CallOptions,
  config: ChatModelConfig,
): Promise<Reply> {
  const all: Record<string, string> = {
    accept: "*/*",
    "content-type": "application/json",
    "user-agent": "vitamin",
    ...config.headers,
  }
  for (const [name, value] of Object.entries(headers ?? {}))
    if (value !== undefined) all[name.toLowerCase()] = value
  try {
    const setting = `provider.${config.providerId}.baseURL`
    return await post({ url: config.url, headers: all, body, setting, signal })
  } catch (error) {
    throw signal?.aborted ? signal.reason : unreachable(error, config.url)
  }
}

type Pieces = AsyncIterator<Uint8Array, undefined>
type Reading = {
  reply: Reply
  chunks: ChunkReader
  warnings: SharedV4Warning[]
  options: LanguageModelV4CallOptions
  config: ChatModelConfig
}

function createPartReader(reading: Reading): PartReader {
  const { reply, chunks, warnings, options, config } = reading
  const pieces: Pieces = reply.body[Symbol.asyncIterator]()
  const error = () => new MessageTooLarge(config.providerId)
  const lines = createLineReader({ take: chunks.take, limit: messageLimit, error })
  const { abortSignal } = options
  const parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings }]
  let next = 0
  let isOver = false

  async function read(): ReturnType<PartReader["read"]> {
    if (next === parts.length && !isOver) await fill()
    return next < parts.length ? { done: false, value: parts[next++]! } : { done: true, value: undefined }
  }

  /** Read until there is a part to return, or the answer has ended. */
  async function fill(): Promise<void> {
    try {
      while (chunks.parts.length === 0 && !isOver) {
        const { value: bytes } = await pieces.next()
        if (bytes) lines.add(bytes)
        else lines.end()
        if (bytes && !chunks.ended()) continue
        chunks.end()
        if (bytes) awaitEnd(pieces, close)
        isOver = true
      }
    } catch (error) {
      isOver = true
      close()
      throw abortSignal?.aborted ? abortSignal.reason : brokenOff(error, reply, config.url)
    }
    parts.length = 0
    next = 0
    for (const part of chunks.parts) parts.push(part)
    chunks.parts.length = 0
  }

  function close(): void {
    reply.body.destroy()
  }

  /** After the last part the connection stays open for the next request. */
  async function cancel(): Promise<void> {
    if (!isOver) close()
  }

  return { read, cancel }
}

/** For callers that want the standard form, such as the AI SDK. */
function streamOf(reader: PartReader): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  )
}

/** Waits for the end of the response after the last chunk. If more bytes come, or the end is late, the connection is
 * closed. */
function awaitEnd(pieces: Pieces, cancel: () => void): void {
  const timer = setTimeout(cancel, closingTime)
  pieces.next().then(
    ({ done }) => {
      clearTimeout(timer)
      if (!done) cancel()
    },
    () => clearTimeout(timer),
  )
}

/** Splits a stream of server-sent events into lines and passes the text after `data:` to `take`. `whole` is false for a
 * last line without a line feed. A line of more than `limit` characters throws `error()`. A server may answer with one JSON
 * object in place of a stream: it is passed to `take` as a whole. */
function createLineReader(options: {
  take: (data: string, whole: boolean) => void
  limit: number
  error: () => Error
}) {
  const { take, limit, error } = options
  const decoder = new TextDecoder()
  let rest = ""
  let isJson: boolean | undefined

  function line(text: string, whole: boolean) {
    if (!text.startsWith("data:")) return
    const data = text.slice(text.charCodeAt(5) === 32 ? 6 : 5).trimEnd()
    if (data) take(data, whole)
  }

  function read(text: string) {
    const first = isJson === undefined ? /\S/.exec(text)?.[0] : undefined
    if (first) isJson = first === "{"
    let from = 0
    for (let to = isJson ? -1 : text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      // Only the new text is searched, so that a long line in many pieces does not take quadratic time.
      line(rest ? rest + text.slice(from, to) : text.slice(from, to), true)
      rest = ""
      from = to + 1
    }
    rest += from ? text.slice(from) : text
    if (rest.length > limit) throw error()
  }

  return Object.freeze({
    add: (bytes: Uint8Array) => read(decoder.decode(bytes, { stream: true })),
    end() {
      read(decoder.decode())
      if (isJson) take(rest, true)
      else line(rest, false)
      rest = ""
    },
  })
}
