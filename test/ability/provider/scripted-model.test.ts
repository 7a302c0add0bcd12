// The scripted model in this process gives the same stream parts as the loopback model.
import assert from "node:assert/strict"
import { test } from "node:test"
import {
  badCall,
  call,
  calls,
  cut,
  errorEvent,
  malformed,
  noFinish,
  reasoning,
  reset,
  scriptedModel,
  stall,
  status,
  text,
} from "../../fixture/scripted-model.ts"
import { hello, only, partsOf, textOf } from "./harness.ts"

test("scriptedModel() streams text, reasoning, calls and usage, and records its requests", async () => {
  const usage = { input: 7, output: 3, reasoning: 1, cacheRead: 2 }
  const model = scriptedModel([
    reasoning(
      "hm",
      calls([text("Hello", { deltas: 5 }), call("read", { path: "a" }, { id: "c1" })], { usage }),
    ),
    badCall("read", "{oops"),
    () => text("made on the spot"),
  ])
  const parts = await partsOf(model)
  assert.equal(textOf(parts, "reasoning-delta"), "hm")
  assert.equal(textOf(parts), "Hello")
  assert.equal(only(parts, "text-delta").length, 5)
  assert.deepEqual(
    only(parts, "tool-call").map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]),
    [["c1", "read", '{"path":"a"}']],
  )
  const [finish] = only(parts, "finish")
  assert.equal(finish?.finishReason.unified, "tool-calls")
  assert.deepEqual([finish?.usage.inputTokens.total, finish?.usage.outputTokens.reasoning], [7, 1])
  assert.equal(only(await partsOf(model), "tool-call")[0]?.input, "{oops")
  assert.equal(textOf(await partsOf(model)), "made on the spot")
  assert.deepEqual(model.calls, [hello, hello, hello])
  await assert.rejects(partsOf(model), /no reply for request 4/)
})

test("scriptedModel() fails on demand", async () => {
  const words = text("one two three", { deltas: 3 })
  const model = scriptedModel([
    status(429, { retryAfter: 2 }),
    reset(),
    cut(words, 1),
    stall(words, 1),
    malformed(words),
    errorEvent(words),
    noFinish(words),
  ])
  await assert.rejects(partsOf(model), {
    statusCode: 429,
    isRetryable: true,
    responseHeaders: { "retry-after": "2" },
  })
  await assert.rejects(partsOf(model), { isRetryable: true })
  await assert.rejects(partsOf(model), { message: "terminated" })
  await assert.rejects(partsOf(model, { ...hello, abortSignal: AbortSignal.timeout(20) }), {
    name: "TimeoutError",
  })
  assert.equal(only(await partsOf(model), "error").length, 1)
  const failed = await partsOf(model)
  assert.deepEqual([only(failed, "error").length, only(failed, "finish").length], [1, 0])
  assert.equal(only(await partsOf(model), "finish").length, 0)
})
