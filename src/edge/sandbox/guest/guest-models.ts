// Models inside the sandbox: the parent chooses and asks them, so keys never enter. Parts of an answer come as notes.
import { isDeepStrictEqual } from "node:util"
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type * as Provider from "#ability/provider/provider.ts"
import { decodeBytes, encodeBytes } from "#edge/sandbox/wire/bytes.ts"
import { Parts, type Prompt } from "#edge/sandbox/wire/doors.ts"
import type { Peer } from "#edge/sandbox/wire/peer.ts"
import { fromWire, WireError } from "#edge/sandbox/wire/wire-error.ts"

type Part = LanguageModelV4StreamPart
type Read = { done: false; value: Part } | { done: true; value: undefined }
type Answer = { parts: Part[]; isOver: boolean; error?: unknown; wake(): void }

export function createGuestModels(ask: Peer["ask"]) {
  const answers = new Map<number, Answer>()
  let ahead: Prompt["model"] = null
  let last = 0

  function takeParts(args: unknown): void {
    const { stream, parts } = Parts.parse(args)
    const answer = answers.get(stream)
    if (!answer) return
    for (const part of parts) answer.parts.push(partOf(part))
    answer.wake()
  }

  function open({ providerId, modelId }: Provider.RemoteModel): ReturnType<Provider.Remote["open"]> {
    async function doStream({ abortSignal, ...options }: LanguageModelV4CallOptions) {
      const stream = ++last
      const answer: Answer = { parts: [], isOver: false, wake() {} }
      answers.set(stream, answer)
      const sent = { stream, model: `${providerId}/${modelId}`, options: encodeBytes(options) }
      ask("model.stream", sent, abortSignal)
        .catch((error) => {
          answer.error = error
        })
        .finally(() => {
          answer.isOver = true
          answers.delete(stream)
          answer.wake()
        })
      const reader = createReader(answer)
      return { reader, stream: streamOf(reader) }
    }
    return Object.freeze({
      specificationVersion: "v4" as const,
      provider: providerId,
      modelId,
      supportedUrls: {},
      doStream,
      doGenerate: () => Promise.reject(new Error("A model in the sandbox only streams.")),
    })
  }

  const remote: Provider.Remote = Object.freeze({
    async choose({ agent, names }: Parameters<Provider.Remote["choose"]>[0]) {
      const wanted = { agent: agent ?? null, names: names.map((name) => name ?? null) }
      const known = isDeepStrictEqual(wanted, ahead?.asked) ? ahead?.chosen : undefined
      ahead = null
      if (known) return known as Provider.RemoteModel
      return (await ask("model.choose", wanted)) as Provider.RemoteModel
    },
    open,
  })
  return Object.freeze({
    remote,
    takeParts,
    /** Takes the answer to the first question of a prompt. */
    expect(answer: Prompt["model"]) {
      ahead = answer
    },
  })
}

function createReader(answer: Answer) {
  async function read(): Promise<Read> {
    for (;;) {
      const value = answer.parts.shift()
      if (value) return { done: false, value }
      if (answer.error) throw answer.error
      if (answer.isOver) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        answer.wake = resolve
      })
    }
  }
  return { read, cancel: async () => {} }
}

function streamOf(reader: ReturnType<typeof createReader>): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

function partOf(part: Record<string, unknown> & { type: string }): Part {
  if (part.type === "error") return { type: "error", error: fromWire(WireError.parse(part.error)) }
  return decodeBytes(part) as Part
}
