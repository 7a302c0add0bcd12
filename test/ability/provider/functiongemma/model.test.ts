// The language model over a scripted completion backend.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider"
import {
  type CompletionBackend,
  createFunctionGemmaModel,
} from "#ability/provider/functiongemma/functiongemma-model.ts"
import { isTooLong } from "#engine/model/retry.ts"
import { hello, partsOf } from "../harness.ts"

type Request = Parameters<CompletionBackend["complete"]>[0]
type Backend = CompletionBackend & { requests: Request[] }

const readTool = {
  type: "function" as const,
  name: "read",
  description: "Reads a file",
  inputSchema: { type: "object" as const, properties: { path: { type: "string" as const } } },
}

/** Says one answer after the other, in pieces of three letters; one letter counts as one token. */
function scripted(answers: string[], contextSize = 10_000): Backend {
  const requests: Request[] = []
  return {
    requests,
    contextSize,
    countTokens: async (text) => text.length,
    async complete(request) {
      requests.push(request)
      const answer = answers.shift()!
      for (const piece of answer.match(/[\s\S]{1,3}/g) ?? []) {
        request.signal?.throwIfAborted()
        request.onToken?.(piece)
        await Promise.resolve()
      }
      return { finish: "stop", promptTokens: request.prompt.length, tokens: answer.length }
    },
    close: async () => {},
  }
}

const modelOf = (backend: Backend) => createFunctionGemmaModel({ modelId: "tiny", backend, maxTokens: 100 })

test("text is streamed at once, except what may begin a control token", async () => {
  const backend = scripted(["A <b>bold</b> answer, x < y <start_of and <\\escape> "])
  const parts = await partsOf(modelOf(backend), {
    ...hello,
    temperature: 0.5,
    seed: 7,
    stopSequences: ["END"],
  })
  const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))
  assert.equal(deltas.join(""), "A <b>bold</b> answer, x < y <start_of and <escape> ")
  assert.ok(deltas.length > 8)
  const { prompt, stop, maxTokens, temperature, seed } = backend.requests[0]!
  assert.ok(prompt.endsWith("Hello<end_of_turn>\n<start_of_turn>model\n"))
  assert.deepEqual(stop, ["<end_of_turn>", "<start_function_response>", "END"])
  assert.deepEqual({ maxTokens, temperature, seed }, { maxTokens: 100, temperature: 0.5, seed: 7 })
  const finish = parts.at(-1)!
  assert.ok(finish.type === "finish" && finish.finishReason.unified === "stop")
  assert.equal(finish.usage.inputTokens.total, prompt.length)
})

test("a whole loop: the model calls tools, reads what they gave, and answers", async () => {
  const backend = scripted([
    "Let me see.<start_function_call>call:read{path:<escape>a.txt<escape>}<end_function_call><start_function_call>call:read{path:<escape>b.txt<escape>}<end_function_call>",
    "<start_function_call>call:read{path:broken}<end_function_call>",
    "Both say hi.",
  ])
  const model = modelOf(backend)
  const prompt: LanguageModelV4Prompt = [...hello.prompt]
  const seen: [name: string, input: string][] = []
  let text = ""
  for (;;) {
    const parts = await partsOf(model, { prompt, tools: [readTool] })
    const calls = parts.filter((part) => part.type === "tool-call")
    text = parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
    const finish = parts.at(-1)!
    assert.equal(
      finish.type === "finish" && finish.finishReason.unified,
      calls.length ? "tool-calls" : "stop",
    )
    if (!calls.length) break
    const made = calls.map(({ toolCallId, toolName, input }) => {
      seen.push([toolCallId, input])
      return {
        type: "tool-call" as const,
        toolCallId,
        toolName,
        input: input.startsWith("{") ? JSON.parse(input) : input,
      }
    })
    prompt.push({ role: "assistant", content: [...(text ? [{ type: "text" as const, text }] : []), ...made] })
    prompt.push({
      role: "tool",
      content: made.map(({ toolCallId, toolName }) => ({
        type: "tool-result" as const,
        toolCallId,
        toolName,
        output: { type: "text" as const, value: "hi" },
      })),
    })
  }
  assert.equal(text, "Both say hi.")
  assert.deepEqual(
    seen.slice(0, 2).map(([, input]) => input),
    ['{"path":"a.txt"}', '{"path":"b.txt"}'],
  )
  assert.equal(new Set(seen.map(([id]) => id)).size, 3)
  const input = seen[2]![1]
  assert.match(input, /^The call breaks at position 36: expected a value, found "broken/)
  assert.throws(() => JSON.parse(input))
  const last = backend.requests[2]!.prompt
  assert.ok(last.includes("declaration:read{description:<escape>Reads a file<escape>"))
  assert.ok(
    last.endsWith("<start_function_response>response:read{value:<escape>hi<escape>}<end_function_response>"),
  )
})

test("a call gets a new id, even if the prompt no longer has the earlier ones", async () => {
  const twice = "<start_function_call>call:read{path:<escape>a<escape>}<end_function_call>".repeat(2)
  const models = [1, 2].map(() => modelOf(scripted(Array.from({ length: 5 }, () => twice))))
  const ids: string[] = []
  for (let turn = 0; turn < 5; turn++)
    for (const model of models)
      for (const part of await partsOf(model, { ...hello, tools: [readTool] }))
        if (part.type === "tool-call") ids.push(part.toolCallId)
  assert.equal(ids.length, 20)
  assert.equal(new Set(ids).size, 20)
})

test("doGenerate() gives the same as doStream()", async () => {
  const answer = "Hm.<start_function_call>call:read{path:<escape>a<escape>}<end_function_call>"
  const { content, finishReason, usage } = await modelOf(scripted([answer])).doGenerate(hello)
  assert.deepEqual(
    content.map((part) => (part.type === "text" ? part.text : part.type === "tool-call" ? part.input : "")),
    ["Hm.", '{"path":"a"}'],
  )
  assert.equal(finishReason.unified, "tool-calls")
  assert.equal(usage.outputTokens.total, answer.length)
})

test("a prompt that does not fit is refused with an error that makes the session compact", async () => {
  const backend = scripted(["never"], 50)
  const error = await modelOf(backend)
    .doStream(hello)
    .then(
      () => undefined,
      (error: Error) => error,
    )
  assert.equal(error?.name, "FunctionGemma.PromptTooLong")
  assert.match(error!.message, /provider\.local\.models\["tiny"\]\.context/)
  assert.ok(isTooLong(error))
  assert.equal(backend.requests.length, 0)
})

test("aborting, or cancelling the stream, ends the completion", async () => {
  for (const leave of ["signal", "cancel"] as const) {
    const ended = Promise.withResolvers<unknown>()
    const backend: CompletionBackend = {
      ...scripted([]),
      complete: ({ signal, onToken }) => {
        onToken?.("begun ")
        return new Promise((_, reject) => {
          signal!.addEventListener("abort", () => {
            ended.resolve(signal!.reason)
            reject(signal!.reason)
          })
        })
      },
    }
    const controller = new AbortController()
    const options: LanguageModelV4CallOptions = { ...hello, abortSignal: controller.signal }
    const { stream } = await createFunctionGemmaModel({ modelId: "tiny", backend, maxTokens: 9 }).doStream(
      options,
    )
    const reader = stream.getReader()
    for (let got = await reader.read(); got.value?.type !== "text-delta"; got = await reader.read());
    if (leave === "signal") controller.abort(new Error("enough"))
    else await reader.cancel()
    await ended.promise
    if (leave === "signal") await assert.rejects(reader.read(), /enough/)
  }
})

test("a model that still reads the prompt sends metadata parts, but no text", async () => {
  const backend: CompletionBackend = {
    ...scripted([]),
    async complete({ onToken }) {
      for (const piece of ["", "", "Yes"]) onToken?.(piece)
      return { finish: "length", promptTokens: 1, tokens: 1 }
    },
  }
  const parts = await partsOf(createFunctionGemmaModel({ modelId: "tiny", backend, maxTokens: 9 }))
  assert.deepEqual(
    parts.map(({ type }) => type),
    [
      "stream-start",
      "response-metadata",
      "response-metadata",
      "text-start",
      "text-delta",
      "text-end",
      "finish",
    ],
  )
})

test("a backend that fails ends the stream with its own error", async () => {
  const backend: CompletionBackend = {
    ...scripted([]),
    complete: () => Promise.reject(new Error("out of memory")),
  }
  await assert.rejects(
    partsOf(createFunctionGemmaModel({ modelId: "tiny", backend, maxTokens: 9 })),
    /out of memory/,
  )
})
