// collect() bounds the answers of hostile streams and keeps connections for the next request.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setImmediate } from "node:timers/promises"
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { streamModel } from "#ability/provider/stream-model.ts"
import { type Answer, collect } from "#engine/model/collect.ts"
import { chatServer, delta, done, finish, modelAt } from "../../ability/provider/chat-server.ts"
import { hello } from "../../ability/provider/harness.ts"
import { until } from "../../fixture/until.ts"

/** More parts than an answer may have, each of them empty. */
const parts = 100_000

for (const type of ["text-delta", "reasoning-delta", "tool-input-delta"] as const)
  test(`collect() stops an answer of many empty parts that begin with a ${type}`, async () => {
    let sent = 0
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      pull(controller) {
        if (sent++ < parts) controller.enqueue({ type, id: String(sent), delta: "" })
        else controller.close()
      },
    })
    const answer: Answer = { parts: [], calls: [] }
    const { signal } = new AbortController()
    const collecting = collect({ reader: stream.getReader(), answer, signal, onPart() {}, onText() {} })
    await assert.rejects(collecting, { name: "Session.AnswerTooLong" })
  })

test("collect() leaves the connection open for the next request", async () => {
  await using server = await chatServer(delta({ content: "Done." }) + finish("stop") + done)
  const model = modelAt(server.url)
  for (let i = 0; i < 3; i++) {
    const answer: Answer = { parts: [], calls: [] }
    const reader = await streamModel(model, hello)
    await collect({ reader, answer, signal: new AbortController().signal, onPart() {}, onText() {} })
    await until(() => server.ended() > i, "the end of the response")
    await setImmediate()
  }
  assert.equal(server.connections(), 1)
})
