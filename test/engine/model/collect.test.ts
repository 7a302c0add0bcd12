// What an answer may hold at most, whatever form a hostile stream gives it.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { type Answer, collect } from "#engine/model/collect.ts"

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
