import assert from "node:assert/strict"
import { AsyncLocalStorage } from "node:async_hooks"
import { spawn } from "node:child_process"
import { getEventListeners } from "node:events"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { call, calls, type Reply, stall, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf, shapeOf, textOf, type World } from "./harness.ts"

const outside = AsyncLocalStorage.snapshot()
const patient = { stall: 60_000 }
const hanging = (): Reply => stall(text("some words are here already", { deltas: 6 }), 900)

/** Each way to stop a prompt: the input of the prompt, and the function that stops it. */
const ways: Record<string, (world: World) => { input: object; stop: () => void; reason: RegExp }> = {
  "Session.abort()": ({ session }) => ({
    input: {},
    stop: () => assert.equal(Session.abort(session.id), true),
    reason: /aborted/,
  }),
  "an AbortSignal": () => {
    const controller = new AbortController()
    return { input: { signal: controller.signal }, stop: () => controller.abort(), reason: /aborted/ }
  },
  "a timeout": () => ({ input: { timeout: 4_000 }, stop: () => {}, reason: /time was up/ }),
}

for (const [name, way] of Object.entries(ways)) {
  test(`${name} ends a streaming answer, stores its part, and the next prompt works`, async () => {
    await inWorld([hanging(), text("again")], async (world) => {
      const { input, stop, reason } = way(world)
      const work = world.ask("go", input, patient)
      work.catch(() => {})
      await until(() => world.events.some(({ type }) => type === "message.delta"))
      stop()
      await assert.rejects(work, { name: "Session.Interrupted", message: reason })
      const { status, error } = await Session.get(world.session.id)
      assert.deepEqual([status, error?.name], ["interrupted", "Session.Interrupted"])
      const last = (await world.messages()).at(-1)
      assert.equal(last?.type === "text" && last.data.finish, "interrupted")
      assert.match(textOf(last), /^some/)
      assert.equal(textOf(await world.ask("and now?")), "again")
      assert.equal(await world.status(), "idle")
    })
  })

  test(`${name} ends tools and their child processes, and each call has a result`, async () => {
    const script = [calls([call("hang"), call("hang"), call("change"), call("ls")]), text("again")]
    await inWorld(script, async (world) => {
      const children: Promise<unknown>[] = []
      let changes = 0
      defineTool("change", async () => String(++changes))
      defineTool(
        "hang",
        async (_, { signal }) => {
          const child = spawn("sleep", ["100"], { signal })
          child.on("error", () => {})
          children.push(new Promise((resolve) => child.on("close", resolve)))
          await new Promise(() => {})
          return ""
        },
        { readOnly: true },
      )
      const { input, stop } = way(world)
      const work = world.ask("go", input, patient)
      work.catch(() => {})
      await until(() => children.length === 2)
      stop()
      await assert.rejects(work, { name: "Session.Interrupted" })
      await Promise.all(children)
      const messages = await world.messages()
      assert.deepEqual(
        resultsOf(messages).map(({ status }) => status),
        ["interrupted", "interrupted", "interrupted", "interrupted"],
      )
      assert.equal(changes, 0)
      assert.equal(textOf(await world.ask("and now?")), "again")
      assert.equal(shapeOf(await world.messages()).filter((type) => type === "tool_result").length, 4)
    })
  })
}

test("Session.abort() drops waiting prompts without a trace", async () => {
  await inWorld([hanging(), text("again")], async ({ ask, session, events, messages }) => {
    const all = [ask("one", {}, patient), ask("two"), ask("three")]
    const settled = Promise.allSettled(all)
    await until(() => events.some(({ type }) => type === "message.delta"))
    assert.equal(Session.abort(session.id), true)
    for (const result of await settled)
      assert.equal(result.status === "rejected" && result.reason.name, "Session.Interrupted")
    assert.deepEqual(shapeOf(await messages()), ["user", "assistant"])
    assert.equal(Session.abort(session.id), false)
    assert.equal(textOf(await ask("four")), "again")
  })
})

test("Session.prompt() with an aborted signal throws and does nothing", async () => {
  await inWorld([], async ({ ask, llm, messages, status }) => {
    await assert.rejects(ask("go", { signal: AbortSignal.abort() }), { name: "Session.Interrupted" })
    assert.equal(llm.requests.length, 0)
    assert.deepEqual(await messages(), [])
    assert.equal(await status(), "idle")
  })
})

test("Session.prompt() leaves nothing on the caller's signal and no timer behind", async () => {
  await inWorld(
    () => text("hi"),
    async ({ ask }) => {
      const { signal } = new AbortController()
      for (let i = 0; i < 5; i++) await ask("go", { signal, timeout: 100_000_000_000 })
      assert.equal(getEventListeners(signal, "abort").length, 0)
      assert.deepEqual(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length, 0)
    },
  )
})

test("a signal from outside the instance ends a prompt that waits for a person", async () => {
  await inWorld([call("bash", { command: "touch x" }), text("again")], async (world) => {
    const controller = new AbortController()
    const work = world.ask("go", { signal: controller.signal, asks: "wait" }, patient)
    work.catch(() => {})
    await until(() => world.events.some(({ type }) => type === "permission.requested"))
    outside(() => controller.abort())
    await assert.rejects(work, { name: "Session.Interrupted" })
    assert.equal(textOf(await world.ask("and now?")), "again")
  })
})
