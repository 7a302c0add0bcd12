// How our own client reads chat-completions streams, correct and incorrect ones.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { calling, chatServer, delta, done, finish, frame, heardFrom, modelAt } from "../chat-server.ts"
import { hello, only, partsOf, textOf } from "../harness.ts"

const types = (parts: LanguageModelV4StreamPart[]) => parts.map(({ type }) => type)
const callsIn = (parts: LanguageModelV4StreamPart[]) =>
  only(parts, "tool-call").map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])

test("a stream becomes parts in order: thoughts, text, calls, finish", async () => {
  const usage = {
    prompt_tokens: 50,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 5 },
  }
  const parts = await heardFrom(
    frame({ id: "x", model: "m-1", created: 7, choices: [{ delta: { reasoning: "hm" } }] }) +
      delta({ content: "I look." }) +
      calling({ index: 0, id: "a", function: { name: "read", arguments: '{"p"' } }) +
      calling({ index: 0, function: { arguments: ":1}" } }) +
      finish("tool_calls") +
      frame({ choices: [], usage }) +
      done,
  )
  assert.deepEqual(types(parts), [
    ..."stream-start response-metadata reasoning-start reasoning-delta reasoning-end text-start".split(" "),
    ..."text-delta tool-input-start tool-input-delta tool-input-delta text-end tool-input-end".split(" "),
    "tool-call",
    "finish",
  ])
  assert.deepEqual(parts[1], {
    type: "response-metadata",
    id: "x",
    modelId: "m-1",
    timestamp: new Date(7_000),
  })
  assert.deepEqual(only(parts, "finish")[0], {
    type: "finish",
    finishReason: { unified: "tool-calls", raw: "tool_calls" },
    usage: {
      inputTokens: { total: 50, noCache: 20, cacheRead: 30, cacheWrite: undefined },
      outputTokens: { total: 20, text: 15, reasoning: 5 },
      raw: usage,
    },
    providerMetadata: { "acme-ai": {} },
  })
})

test("one JSON document instead of a stream is accepted, with any content type, spacing and finish reason", async () => {
  const message = { role: "assistant", content: "Hello.", tool_calls: null }
  for (const space of [undefined, 2]) {
    const parts = await heardFrom(`\n \n${JSON.stringify({ id: "x", choices: [{ message }] }, null, space)}`)
    assert.equal(textOf(parts), "Hello.")
    assert.equal(only(parts, "finish")[0]?.finishReason.unified, "stop")
  }
  const failed = await heardFrom('{"error": {"message": "overloaded"}}')
  assert.deepEqual(only(failed, "error")[0]?.error, { message: "overloaded" })
  const cut = await heardFrom('{"choices": [{"message": {"content": "Hel')
  assert.deepEqual([only(cut, "error").length, only(cut, "finish").length], [1, 0])
})

test('finish reasons are unified; a refusal is "content-filter"', async () => {
  const reasons = { stop: "stop", length: "length", content_filter: "content-filter", odd: "other" }
  for (const [raw, unified] of Object.entries(reasons))
    assert.deepEqual(only(await heardFrom(finish(raw)), "finish")[0]?.finishReason, { unified, raw })
  const refused = await heardFrom(delta({ refusal: "No." }) + finish("stop") + done)
  assert.equal(textOf(refused), "No.")
  assert.equal(only(refused, "finish")[0]?.finishReason.unified, "content-filter")
})

test("all line ends are accepted, comments and other fields are skipped, the last line end may be missing", async () => {
  const chunk = JSON.stringify({ choices: [{ delta: { content: "ä" } }] })
  const last = JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })
  const parts = await heardFrom(
    `: ping\r\n\r\nevent: x\r\nid: 1\r\ndata: ${chunk}\r\n\r\ndata:${chunk}\n\ndata:\n\ndata: ${last}`,
  )
  assert.equal(textOf(parts), "ää")
  assert.equal(only(parts, "finish").length, 1)
})

test("a chunk that is not a JSON object makes the stream fail", async () => {
  for (const broken of ['data: {"oops": \n\n', "data: 5\n\n"]) {
    const parts = await heardFrom(delta({ content: "a" }) + broken + delta({ content: "b" }) + finish("stop"))
    assert.equal(textOf(parts), "a")
    assert.equal(only(parts, "error").length, 1)
    assert.equal(parts.at(-1)?.type, "error")
  }
})

test("an error in a chunk makes the stream fail, even beside choices", async () => {
  const error = { message: "overloaded", code: 529 }
  const parts = await heardFrom(frame({ error, choices: [{ delta: {}, finish_reason: "error" }] }) + done)
  assert.deepEqual(parts.at(-1), { type: "error", error })
  const fine = await heardFrom(
    frame({ error: null, choices: [{ delta: { content: "a" } }] }) + finish("stop"),
  )
  assert.deepEqual([textOf(fine), only(fine, "error").length], ["a", 0])
})

test("without a finish reason there is no finish part and no call, even if the call is complete", async () => {
  const whole = calling({ index: 0, id: "a", function: { name: "read", arguments: "{}" } })
  const half = calling({ index: 1, id: "b", function: { name: "read", arguments: '{"pa' } })
  for (const end of ["", done, 'data: {"choices": [{"del'])
    for (const said of [whole, half, whole + half, delta({ content: "a" })]) {
      const parts = await heardFrom(said + end)
      assert.deepEqual(
        types(parts).filter((type) => /^(tool-call|finish|error)$/.test(type)),
        [],
      )
    }
})

test("calls are distinguished by index, by id, or by their order", async () => {
  const one = { name: "read", arguments: '{"a":1}' }
  const two = { name: "read", arguments: '{"a":2}' }
  const expected = ['{"a":1}', '{"a":2}']
  const ways = {
    "several in one chunk": calling(
      { index: 0, id: "a", function: one },
      { index: 1, id: "b", function: two },
    ),
    "no index": calling({ id: "a", function: one }) + calling({ id: "b", function: two }),
    "neither index nor id": calling({ function: one }) + calling({ function: two }),
    "one index for all":
      calling({ index: 0, id: "a", function: one }) + calling({ index: 0, id: "b", function: two }),
    "one id for all":
      calling({ index: 0, id: "a", function: one }) + calling({ index: 1, id: "a", function: two }),
    "in the wrong order":
      calling({ index: 1, id: "b", function: two }) + calling({ index: 0, id: "a", function: one }),
    interleaved:
      calling({ index: 0, id: "a", function: { name: "read", arguments: '{"a"' } }) +
      calling({ index: 1, id: "b", function: { name: "read", arguments: '{"a"' } }) +
      calling({ index: 0, function: { arguments: ":1}" } }, { index: 1, function: { arguments: ":2}" } }),
    "id and name repeated":
      ['{"a"', ":1}"]
        .map((text) => calling({ index: 0, id: "a", function: { name: "read", arguments: text } }))
        .join("") + calling({ index: 1, id: "b", function: two }),
    "pieces without any mark":
      calling({ id: "a", function: { name: "read", arguments: '{"a"' } }) +
      calling({ function: { arguments: ":1}" } }) +
      calling({ id: "b", function: two }),
  }
  for (const [way, said] of Object.entries(ways)) {
    const found = callsIn(await heardFrom(said + finish("tool_calls") + done))
    assert.deepEqual(
      found.map(([, , input]) => input),
      expected,
      way,
    )
    assert.equal(new Set(found.map(([id]) => id)).size, 2, way)
    assert.ok(
      found.every(([id, name]) => id && name === "read"),
      way,
    )
  }
})

test("a name may come late or never, arguments may be an object or missing", async () => {
  const late =
    calling({ index: 0, id: "a", function: { arguments: '{"a"' } }) +
    calling({ index: 0, function: { name: "read", arguments: ":1}" } })
  const parts = await heardFrom(late + finish("tool_calls"))
  assert.deepEqual(callsIn(parts), [["a", "read", '{"a":1}']])
  assert.equal(only(parts, "tool-input-start")[0]?.toolName, "read")
  const object = calling({ index: 0, id: "a", function: { name: "read", arguments: { a: 1 } } })
  assert.deepEqual(callsIn(await heardFrom(object + finish("tool_calls"))), [["a", "read", '{"a":1}']])
  const nameless = calling(
    { index: 0, id: "a", function: { name: "", arguments: "{}" } },
    { index: 1, id: "b" },
  )
  assert.deepEqual(callsIn(await heardFrom(nameless + finish("tool_calls"))), [
    ["a", "", "{}"],
    ["b", "", ""],
  ])
})

test("only the first choice counts, and thoughts may come as parts of the content", async () => {
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "text", text: "yes" },
  ]
  const two = frame({ choices: [{ delta: { content } }, { delta: { content: "no" } }] })
  const parts = await heardFrom(two + finish("stop"))
  assert.deepEqual([textOf(parts), textOf(parts, "reasoning-delta")], ["yes", "hm"])
})

test("the signature of a call's thought comes with the call", async () => {
  const extra_content = { google: { thought_signature: "sig" } }
  const parts = await heardFrom(
    calling({ id: "a", function: { name: "x", arguments: "{}" }, extra_content }) + finish("stop"),
  )
  assert.deepEqual(only(parts, "tool-call")[0]?.providerMetadata, { "acme-ai": { thoughtSignature: "sig" } })
})

test("the stream ends after the last chunk, even if the connection stays open", async () => {
  await using server = await chatServer(delta({ content: "a" }) + finish("stop") + done, { stayOpen: true })
  assert.equal(only(await partsOf(modelAt(server.url)), "finish").length, 1)
  assert.equal(server.ended(), 0)
})

test("a connection is used again for the next turn", async () => {
  await using server = await chatServer(delta({ content: "a" }) + finish("stop") + done)
  const model = modelAt(server.url)
  for (let i = 0; i < 3; i++) {
    await partsOf(model)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(server.connections(), 1)
})

test("an abort ends a waiting stream and one that has not started", async () => {
  await using server = await chatServer(delta({ content: "a" }), { stayOpen: true })
  const controller = new AbortController()
  const reason = new Error("enough")
  const { stream } = await modelAt(server.url).doStream({ ...hello, abortSignal: controller.signal })
  const reader = stream.getReader()
  setTimeout(() => controller.abort(reason), 20)
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, reason)
  await assert.rejects(partsOf(modelAt(server.url), { ...hello, abortSignal: controller.signal }), reason)
})

test("doGenerate() returns the whole answer, and throws the errors of the stream", async () => {
  const call = calling({ index: 0, id: "a", function: { name: "read", arguments: "{}" } })
  const said = delta({ reasoning_content: "h" }) + delta({ content: "o" }) + delta({ content: "k" }) + call
  await using server = await chatServer(said + finish("tool_calls") + done)
  const { content, finishReason } = await modelAt(server.url).doGenerate(hello)
  assert.deepEqual(content, [
    { type: "reasoning", text: "h" },
    { type: "text", text: "ok" },
    { type: "tool-call", toolCallId: "a", toolName: "read", input: "{}" },
  ])
  assert.equal(finishReason.unified, "tool-calls")
  await using failing = await chatServer(frame({ error: { message: "overloaded" } }))
  await assert.rejects(async () => modelAt(failing.url).doGenerate(hello), { message: "overloaded" })
  await using cut = await chatServer(said)
  await assert.rejects(async () => modelAt(cut.url).doGenerate(hello), {
    name: "AI_InvalidResponseDataError",
  })
})
