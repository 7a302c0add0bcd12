// What happens to prompts when the runtime stops.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import * as Tool from "#ability/tool/tool.ts"
import * as Queue from "#engine/queue/queue.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf } from "./harness.ts"

test("Instance.dispose() interrupts a prompt before its tools lose the parts that they use", async () => {
  await inWorld([call("part"), text("It goes on.")], async ({ ask, llm, session }) => {
    const part = Instance.state(
      () => ({ ...Promise.withResolvers<string>() }),
      async ({ resolve }) => {
        resolve("The part is gone.")
        // Time enough for a loop that was not stopped to ask the model again.
        await sleep(300)
      },
    )
    let isRunning = false
    defineTool("part", () => {
      isRunning = true
      return part().promise
    })
    const asked = ask("go")
    asked.catch(() => {})
    await until(() => isRunning)
    await Instance.dispose()
    await assert.rejects(asked, { name: "Session.Interrupted", message: /the runtime stops/ })
    assert.equal(llm.requests.length, 1)
    await Instance.provide({
      directory: session.directory,
      async fn() {
        assert.equal((await Session.get(session.id)).status, "interrupted")
        const results = resultsOf(await Session.messages(session.id))
        assert.deepEqual(
          results.map(({ status }) => status),
          ["interrupted"],
        )
      },
    })
  })
})

test("Session.prompt() is refused after Instance.stopWork()", async () => {
  await inWorld([text("no")], async ({ ask, llm }) => {
    const first = ask("go")
    await first
    await Instance.stopWork()
    await assert.rejects(ask("more"), { name: "Session.Interrupted", message: /the runtime stops/ })
    assert.equal(llm.requests.length, 1)
  })
})

test("Instance.dispose() does not wait for ever for work that ignores its signal", async () => {
  await inWorld([], async ({ session }) => {
    void Queue.enter({ sessionId: session.id }, () => new Promise(() => {}))
    await Instance.dispose()
  })
})

test("a prompt that outlives its instance is interrupted, and its usage counts once", async () => {
  await inWorld([call("late")], async ({ ask, session }) => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    let isChecked = false
    const parameters = z.object({}).refine(() => {
      isChecked = true
      return promise
    })
    Tool.define("late", () => ({
      description: "A tool whose arguments are checked for long.",
      parameters,
      readOnly: true,
      permission: () => [],
      execute: async () => "late",
    }))
    const asked = ask("go")
    asked.catch(() => {})
    await until(() => isChecked)
    await Instance.dispose()
    resolve(true)
    await assert.rejects(asked, { name: "Session.Interrupted", message: /the runtime stops/ })
    await Instance.provide({
      directory: session.directory,
      async fn() {
        const { usage, status } = await Session.get(session.id)
        assert.equal(status, "interrupted")
        // As the one request of the fake model reports it.
        assert.equal(usage.input, 100)
      },
    })
  })
})
