// Some servers answer a streaming request with one JSON document. The AI SDK's `doGenerate` then parses that answer,
// without a second request, and its content becomes a stream. A JSON list of chunks, as Gemini sends without `alt=sse`, is
// converted to server-sent events.
import { AsyncLocalStorage } from "node:async_hooks"
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider"

class AnsweredWhole extends Error {
  readonly response: Response

  constructor(response: Response) {
    super("The server answered with one JSON document in place of a stream.")
    this.response = response
  }
}

/** Creates a model whose `doStream` accepts both a stream and a JSON document. `create` is passed the `fetch` to use. */
export function acceptWhole(
  given: typeof fetch,
  create: (fetch: typeof globalThis.fetch) => LanguageModelV4,
): LanguageModelV4 {
  const streaming = new AsyncLocalStorage<{ answer?: Response }>()
  const model = create(async (input, init) => {
    const asked = streaming.getStore()
    if (asked?.answer) return asked.answer
    const response = await given(input, init)
    if (!asked || !response.ok || !isJson(response)) return response
    const text = await response.text()
    const { status, headers } = response
    const chunks = chunksIn(text)
    if (!chunks) throw new AnsweredWhole(new Response(text, { status, headers }))
    const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")
    return new Response(events, { status, headers: { "content-type": "text/event-stream" } })
  })

  async function doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    try {
      return await streaming.run({}, () => model.doStream(options))
    } catch (error) {
      if (!(error instanceof AnsweredWhole)) throw error
      return streamOf(await streaming.run({ answer: error.response }, () => model.doGenerate(options)))
    }
  }

  return Object.freeze({
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doStream,
    doGenerate: (options: LanguageModelV4CallOptions) => model.doGenerate(options),
  })
}

function isJson({ headers }: Response): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "")
}

/** Undefined if the text is not a list. A list that was cut off is passed to `doGenerate`, which reports the error. */
function chunksIn(text: string): unknown[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function streamOf(result: LanguageModelV4GenerateResult): LanguageModelV4StreamResult {
  const { content, warnings, finishReason, usage, providerMetadata, request, response } = result
  const metadata = providerMetadata ? { providerMetadata } : {}
  const parts: LanguageModelV4StreamPart[] = [
    { type: "stream-start", warnings },
    ...content.flatMap(partsOf),
    { type: "finish", finishReason, usage, ...metadata },
  ]
  return {
    stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart>,
    ...(request ? { request } : {}),
    ...(response?.headers ? { response: { headers: response.headers } } : {}),
  }
}

function partsOf(part: LanguageModelV4Content, place: number): LanguageModelV4StreamPart[] {
  if (part.type !== "text" && part.type !== "reasoning") return [part]
  const id = String(place)
  const metadata = part.providerMetadata ? { providerMetadata: part.providerMetadata } : {}
  return [
    { type: `${part.type}-start`, id },
    { type: `${part.type}-delta`, id, delta: part.text },
    { type: `${part.type}-end`, id, ...metadata },
  ]
}
