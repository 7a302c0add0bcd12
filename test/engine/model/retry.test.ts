import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { isTransient, waitFor, withRetry } from "#engine/model/retry.ts"
import * as Session from "#engine/session/session.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import {
  call,
  calls,
  cut,
  errorEvent,
  malformed,
  type Reply,
  reset,
  splitCharacters,
  stall,
  status,
  text,
  wires,
} from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, filesOf, hasty, inWorld, shapeOf, textOf } from "../session/harness.ts"

const long = () => text("one two three four five six", { deltas: 6 })
const faults: Record<string, Reply> = {
  "429 with Retry-After": status(429, { retryAfter: 7 }),
  "408": status(408),
  "409": status(409),
  "500": status(500),
  "503": status(503),
  "529": status(529),
  "a reset": reset(),
  "a cut stream": cut(long(), 700),
  "a cut before anything": cut(long(), 1),
  "a stalled stream": stall(long(), 700),
  "a malformed chunk": malformed(long()),
  "an error event": errorEvent(long()),
}

for (const wire of wires)
  test(`Session.prompt() retries after each transient failure and leaves no trace of it, over ${wire}`, async () => {
    for (const [name, fault] of Object.entries(faults))
      await inWorld(
        [fault, fault, splitCharacters(text("größer → ✓"))],
        async ({ ask, messages, llm, session }) => {
          const waits: number[] = []
          const wait = (error: unknown, tries: number) => {
            waits.push(waitFor(error, tries))
            return 1
          }
          assert.equal(textOf(await ask("go", {}, { wait, stall: 500 })), "größer → ✓", name)
          assert.equal(llm.requests.length, 3, name)
          assert.deepEqual(shapeOf(await messages()), ["user", "assistant"], name)
          assert.equal(filesOf(session.id).length, 2, name)
          if (name.startsWith("429")) assert.deepEqual(waits, [7_000, 7_000])
          else assert.ok(waits[0]! >= 250 && waits[0]! <= 500 && waits[1]! <= 1_000, `${name}: ${waits}`)
        },
        { wire },
      )
  })

test("Session.prompt() retries while connections are refused", async () => {
  await inWorld([text("here")], async ({ ask, llm }) => {
    await llm.down()
    const work = ask("go", {}, { wait: () => 50 })
    await sleep(20)
    await llm.up()
    assert.equal(textOf(await work), "here")
  })
})

test("Session.prompt() gives up after six attempts, with the provider's message", async () => {
  await inWorld(
    () => status(503, { message: "overloaded today" }),
    async ({ ask, llm, session }) => {
      await assert.rejects(ask("go"), /overloaded today/)
      assert.equal(llm.requests.length, 6)
      const { status: state, error } = await Session.get(session.id)
      assert.equal(state, "error")
      assert.match(error!.message, /overloaded today/)
    },
  )
  await inWorld(
    () => errorEvent(long(), "on fire"),
    async ({ ask, messages }) => {
      await assert.rejects(ask("go"), /on fire/)
      const last = (await messages()).at(-1)
      assert.equal(last?.type === "text" && last.data.finish, "error")
    },
    { wire: "messages" },
  )
})

test("Session.prompt() does not retry a request that can never succeed", async () => {
  for (const code of [400, 401, 403, 404, 413, 422])
    await inWorld(
      () => status(code),
      async ({ ask, llm }) => {
        await assert.rejects(ask("go"), { data: { provider: "openai", status: code } })
        assert.equal(llm.requests.length, 1)
      },
    )
  assert.equal(isTransient(new TypeError("x is not a function")), false)
  assert.equal(isTransient(new TypeError("fetch failed")), true)
  assert.equal(isTransient(undefined), true)
})

test("waitFor() follows Retry-After in seconds, milliseconds or as a date", () => {
  const after = (headers: Record<string, string>) => waitFor({ responseHeaders: headers }, 1)
  assert.equal(after({ "retry-after": "3" }), 3_000)
  assert.equal(after({ "retry-after": "3600" }), 3_600_000)
  assert.equal(after({ "retry-after-ms": "20" }), 20)
  const date = after({ "retry-after": new Date(Date.now() + 10_000).toUTCString() })
  assert.ok(date > 8_000 && date <= 10_000)
  assert.ok(after({ "retry-after": "soon" }) <= 500)
  for (let tries = 1; tries < 20; tries++) assert.ok(waitFor(undefined, tries) <= 60_000)
})

for (const wire of wires)
  test(`after an answer that broke off, its calls do not run, and those of the retry run once, over ${wire}`, async () => {
    const answer = calls(
      [text("Changing. "), call("change", { value: "a" }), call("change", { value: "b" })],
      {
        deltas: 4,
      },
    )
    for (const bytes of [300, 600, 900, 1_200, 1_500, 2_000])
      await inWorld(
        [cut(answer, bytes), answer, text("done")],
        async ({ ask, llm }) => {
          const ran: unknown[] = []
          defineTool("change", async ({ value }) => String(ran.push(value)))
          await ask("go")
          assert.deepEqual(ran, ["a", "b"], `cut at ${bytes}`)
          assert.ok(llm.requests.length >= 2)
        },
        { wire },
      )
  })

test("a retry after streamed text publishes the message as empty, so that clients can discard the text", async () => {
  const slow = { deltas: 6, delay: 5, chunk: 200 }
  for (const keepEvery of [1_000, 1])
    await inWorld(
      [cut(text("one two three four five six", slow), 900), call("ls"), text("done")],
      async ({ ask, events, messages, session }) => {
        await ask("go", {}, { keepEvery })
        const first = events.find(({ type }) => type === "message.delta")!.payload as { messageId: string }
        const updated = events.flatMap(({ type, payload }) => {
          const { message } = payload as { message?: { id: string; data: { parts?: unknown[] } } }
          return type === "message.updated" && message?.id === first.messageId ? [message.data.parts] : []
        })
        assert.deepEqual(updated.at(-1), [])
        assert.deepEqual(shapeOf(await messages()), ["user", "tool_request", "tool_result", "assistant"])
        // Nothing is left, even if a part was already stored.
        assert.equal((await MessageStore.list(session.id)).length, 4)
      },
    )
})

test("withRetry() retries only after onRetry has finished", async () => {
  const steps: string[] = []
  const answer = await withRetry({
    signal: new AbortController().signal,
    wait: () => 1,
    async attempt() {
      steps.push("attempt")
      if (steps.length === 1) throw new TypeError("fetch failed")
      return "answer"
    },
    async onRetry() {
      await sleep(20)
      steps.push("taken back")
    },
  })
  assert.deepEqual([answer, ...steps], ["answer", "attempt", "taken back", "attempt"])
})

test("Session.abort() ends the wait before a retry", async () => {
  await inWorld(
    () => status(503),
    async ({ ask, session, llm }) => {
      const work = ask("go", {}, { ...hasty, wait: () => 50_000 })
      work.catch(() => {})
      await until(() => llm.requests.length === 1)
      await until(() => Session.abort(session.id))
      await assert.rejects(work, { name: "Session.Interrupted" })
    },
  )
})
