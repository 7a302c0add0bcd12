// The four wire forms, through the real packages, against the loopback model.
import assert from "node:assert/strict"
import { test } from "node:test"
import {
  badCall,
  call,
  calls,
  cut,
  empty,
  errorEvent,
  fakeLlm,
  malformed,
  noFinish,
  reasoning,
  reset,
  splitCharacters,
  stall,
  status,
  text,
  wires,
} from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { hello, only, partsOf, textOf, withModel } from "./harness.ts"

const usage = { input: 120, output: 30, reasoning: 8, cacheRead: 40 }
const paths = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  gemini: "/v1beta/models/fake-model:streamGenerateContent?alt=sse",
}

for (const wire of wires) {
  test(`Provider.getModel() streams text over ${wire}, with usage and a finish`, async () => {
    await using llm = await fakeLlm([text("Grüße, 世界 👋", { deltas: 5, usage })])
    const parts = await withModel(llm, wire, (model) => partsOf(model))
    assert.equal(textOf(parts), "Grüße, 世界 👋")
    assert.equal(only(parts, "text-delta").length, 5)
    const [finish] = only(parts, "finish")
    assert.equal(finish?.finishReason.unified, "stop")
    assert.equal(finish?.usage.inputTokens.total, 120)
    assert.equal(finish?.usage.inputTokens.cacheRead, 40)
    assert.equal(finish?.usage.outputTokens.total, 30)
    const [request] = llm.requests
    assert.equal(request?.wire, wire)
    assert.equal(request?.path, paths[wire])
    assert.equal(request?.model, "fake-model")
    assert.deepEqual(
      request?.messages.map(({ role, text }) => [role, text]),
      [["user", "Hello"]],
    )
    assert.match(JSON.stringify(request?.headers), /fake-llm-key-0123456789/)
  })

  test(`Provider.getModel() accepts one JSON document instead of a stream over ${wire}`, async () => {
    const answer = reasoning(
      "let me see",
      calls([text("I look."), call("read", { path: "a" })], { whole: true }),
    )
    await using llm = await fakeLlm([
      answer,
      text("Done.", { whole: true, usage: { input: 120, output: 30 } }),
    ])
    await withModel(llm, wire, async (model) => {
      const parts = await partsOf(model)
      assert.deepEqual([textOf(parts, "reasoning-delta"), textOf(parts)], ["let me see", "I look."])
      const [made] = only(parts, "tool-call")
      assert.deepEqual([made!.toolName, JSON.parse(made!.input)], ["read", { path: "a" }])
      assert.equal(only(parts, "finish")[0]?.finishReason.unified, "tool-calls")
      const [finish] = only(await partsOf(model), "finish")
      assert.equal(finish?.finishReason.unified, "stop")
      assert.deepEqual([finish.usage.inputTokens.total, finish.usage.outputTokens.total], [120, 30])
    })
    assert.equal(llm.requests.length, 2)
  })

  test(`Provider.getModel() streams reasoning over ${wire}`, async () => {
    await using llm = await fakeLlm([reasoning("let me see", text("42", { usage }))])
    const parts = await withModel(llm, wire, (model) => partsOf(model))
    assert.equal(textOf(parts, "reasoning-delta"), "let me see")
    assert.equal(textOf(parts), "42")
  })

  test(`Provider.getModel() streams tool calls over ${wire}, arguments in many deltas`, async () => {
    const input = { path: "src/ä.ts", range: [1, 20] }
    await using llm = await fakeLlm([
      calls([text("I look."), call("read", input, { id: "call_a" }), call("ls", {}, { id: "call_b" })], {
        deltas: 9,
      }),
    ])
    const parts = await withModel(llm, wire, (model) => partsOf(model))
    const found = only(parts, "tool-call")
    assert.deepEqual(
      found.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, JSON.parse(input)]),
      [
        ["call_a", "read", input],
        ["call_b", "ls", {}],
      ],
    )
    assert.equal(only(parts, "finish")[0]?.finishReason.unified, "tool-calls")
  })

  test(`fake-llm over ${wire} breaks characters and frames anywhere, and nothing is lost`, async () => {
    await using llm = await fakeLlm([
      splitCharacters(text("Grüße, 世界 👋")),
      text("世界", { chunk: 7 }),
      text("slow", { deltas: 4, delay: 2 }),
    ])
    await withModel(llm, wire, async (model) => {
      for (const expected of ["Grüße, 世界 👋", "世界", "slow"])
        assert.equal(textOf(await partsOf(model)), expected)
    })
  })

  test(`fake-llm over ${wire} answers with HTTP errors that say whether to try again`, async () => {
    const codes = [429, 500, 503, 529, 400, 401]
    await using llm = await fakeLlm(codes.map((code) => status(code, code === 429 ? { retryAfter: 7 } : {})))
    await withModel(llm, wire, async (model) => {
      for (const code of codes)
        await assert.rejects(partsOf(model), {
          name: "AI_APICallError",
          statusCode: code,
          message: `status ${code}`,
          isRetryable: code >= 429,
        })
    })
    assert.equal(llm.requests.length, codes.length)
  })

  test(`fake-llm over ${wire} refuses, resets, cuts and stalls`, async () => {
    await using llm = await fakeLlm([
      reset(),
      cut(text("x".repeat(500), { deltas: 50 }), 900),
      stall(text("abc"), 80),
    ])
    await withModel(llm, wire, async (model) => {
      await assert.rejects(partsOf(model), { name: "AI_APICallError", isRetryable: true })
      await assert.rejects(partsOf(model))
      // Not earlier: the reply that stalls must have been taken.
      const stop = new AbortController()
      const stopped = assert.rejects(partsOf(model, { ...hello, abortSignal: stop.signal }), {
        name: "TimeoutError",
      })
      await until(() => llm.requests.length === 3, "the request that stalls")
      stop.abort(new DOMException("too long", "TimeoutError"))
      await stopped
      await llm.down()
      await assert.rejects(partsOf(model), { name: "AI_APICallError", isRetryable: true })
      await llm.up()
      llm.push(text("back"))
      assert.equal(textOf(await partsOf(model)), "back")
    })
  })

  test(`fake-llm over ${wire} sends broken answers, and none of them looks complete`, async () => {
    const words = text("one two three four", { deltas: 4 })
    await using llm = await fakeLlm([malformed(words), errorEvent(words), noFinish(words), empty()])
    await withModel(llm, wire, async (model) => {
      assert.equal(only(await partsOf(model), "error").length, 1)
      assert.match(JSON.stringify(only(await partsOf(model), "error")[0]), /overloaded/)
      const open = await partsOf(model)
      assert.notEqual(only(open, "finish")[0]?.finishReason.unified, "stop")
      const nothing = await partsOf(model)
      assert.equal(textOf(nothing), "")
      assert.equal(only(nothing, "finish")[0]?.finishReason.unified, "stop")
    })
  })

  test(`fake-llm over ${wire} makes calls that cannot be run`, async () => {
    await using llm = await fakeLlm([
      calls([call("nope", {}, { id: "same" }), call("read", { path: "a" }, { id: "same" })]),
      badCall("read", '{"path": "a'),
    ])
    await withModel(llm, wire, async (model) => {
      const twice = only(await partsOf(model), "tool-call")
      assert.equal(twice[0]?.toolCallId, "same")
      assert.deepEqual(
        twice.map(({ toolName }) => toolName),
        ["nope", "read"],
      )
      const [broken] = only(await partsOf(model), "tool-call")
      assert.equal(broken?.input, '{"path": "a')
    })
  })
}

for (const wire of wires)
  test(`a call without a name comes through over ${wire}`, async () => {
    await using llm = await fakeLlm([call("", {})])
    const parts = await withModel(llm, wire, (model) => partsOf(model))
    assert.equal(only(parts, "tool-call")[0]?.toolName, "")
  })

test("Provider.getModel() understands a JSON list of chunks in place of a stream over gemini", async () => {
  const whole = "chunks" as const
  await using llm = await fakeLlm([
    reasoning("let me see", calls([text("I look."), call("read", { path: "ä" })], { whole, deltas: 3 })),
    text("Done.", { whole, usage }),
  ])
  await withModel(llm, "gemini", async (model) => {
    const parts = await partsOf(model)
    assert.deepEqual([textOf(parts, "reasoning-delta"), textOf(parts)], ["let me see", "I look."])
    const [made] = only(parts, "tool-call")
    assert.deepEqual([made!.toolName, JSON.parse(made!.input)], ["read", { path: "ä" }])
    assert.equal(only(parts, "finish")[0]?.finishReason.unified, "tool-calls")
    const next = await partsOf(model)
    assert.equal(textOf(next), "Done.")
    const [finish] = only(next, "finish")
    assert.deepEqual([finish?.usage.inputTokens.total, finish?.usage.outputTokens.total], [120, 30])
  })
  assert.equal(llm.requests.length, 2)
})
