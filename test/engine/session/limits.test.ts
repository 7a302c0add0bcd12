import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf, textOf } from "./harness.ts"

test("Session.prompt({ maxSteps }) stops after that many requests, with a result for each call", async () => {
  let n = 0
  await inWorld(
    () => call("look", { value: String(n++) }),
    async ({ ask, llm, messages, status }) => {
      defineTool("look", async ({ value }) => `saw ${value}`, { readOnly: true })
      await assert.rejects(ask("go", { maxSteps: 4 }), { name: "Session.StepLimit", message: /4 steps/ })
      assert.equal(llm.requests.length, 4)
      assert.equal(resultsOf(await messages()).length, 4)
      assert.equal(await status(), "error")
    },
  )
})

test("Session.prompt({ maxSteps: 1 }) says that it stopped after 1 step", async () => {
  await inWorld([call("look", { value: "a" })], async ({ ask }) => {
    defineTool("look", async ({ value }) => `saw ${value}`, { readOnly: true })
    await assert.rejects(ask("go", { maxSteps: 1 }), { message: /stopped after 1 step\./ })
  })
})

test("Session.prompt({ maxCost }) stops before it would spend more, and returns an answer that has arrived", async () => {
  const usage = { input: 1_000_000, output: 0 }
  const openai = { models: { "fake-model": { cost: { input: 1, output: 1 } } } }
  const script = [
    call("ls", {}, { usage }),
    call("ls", { path: "." }, { usage }),
    call("ls", {}, { usage }),
    text("dear", { usage }),
  ]
  await inWorld(
    script,
    async ({ ask, llm, messages, session }) => {
      await assert.rejects(ask("go", { maxCost: 2.5 }), { name: "Session.CostLimit", message: /\$3\.0000/ })
      assert.equal(llm.requests.length, 3)
      const results = resultsOf(await messages()).map(({ status }) => status)
      assert.deepEqual(results, ["success", "success", "interrupted"])
      assert.equal(textOf(await ask("again", { maxCost: 0.5 })), "dear")
      assert.equal((await Session.get(session.id)).usage.cost, 4)
    },
    { config: { provider: { openai } } },
  )
})

test("Session.prompt() warns the model at the second identical call and result, and stops at the third", async () => {
  await inWorld(
    () => call("look", { value: "a" }),
    async ({ ask, llm, messages }) => {
      defineTool("look", async () => "nothing", { readOnly: true })
      await assert.rejects(ask("go", { asks: "deny" }), {
        name: "Session.Looping",
        message: /"look" 3 times/,
      })
      assert.equal(llm.requests.length, 3)
      const outputs = resultsOf(await messages()).map(
        ({ output }) => /This same call gave this same result (\d)/.exec(String(output))?.[1],
      )
      assert.deepEqual(outputs, [undefined, "2", "3"])
    },
  )
})

for (const period of [2, 3, 4, 5, 8])
  test(`Session.prompt() detects a loop of ${period} calls`, async () => {
    let n = 0
    await inWorld(
      () => call("look", { value: `${n++ % period}` }),
      async ({ ask, llm, messages }) => {
        defineTool("look", async ({ value }) => `saw ${value}`, { readOnly: true })
        await assert.rejects(ask("go", { asks: "deny" }), { name: "Session.Looping" })
        assert.equal(llm.requests.length, 3 * period)
        const told = resultsOf(await messages()).findIndex(({ output }) =>
          /Try something else/.test(String(output)),
        )
        assert.equal(told, 2 * period - 1)
      },
    )
  })

test('Session.prompt() asks a person at the third identical call: "once" continues, "reject" stops', async () => {
  await inWorld(
    () => call("look", { value: "a" }),
    async ({ ask, llm, events, status }) => {
      defineTool("look", async () => "nothing", { readOnly: true })
      const answered = ask("go")
      await until(() => Permission.pending().length === 1, "the first question")
      const [first] = Permission.pending()
      assert.deepEqual(first?.needs, [])
      assert.match(first!.title, /repeats itself: "look".* 3 times\. Go on\?/)
      assert.equal(await status(), "waiting")
      await Permission.reply(first!.id, "once")
      await until(() => Permission.pending().length === 1, "the second question")
      assert.equal(llm.requests.length, 6)
      await Permission.reply(Permission.pending()[0]!.id, "reject")
      await assert.rejects(answered, { name: "Session.Looping" })
      assert.equal(await status(), "error")
      assert.equal(events.filter(({ type }) => type === "permission.requested").length, 2)
    },
  )
})

test("Session.prompt() stores the results of all parallel calls when it stops a loop", async () => {
  const six = Array.from({ length: 6 }, () => call("look", { value: "a" }))
  await inWorld([calls([...six, call("look", { value: "b" })])], async ({ ask, messages }) => {
    defineTool("look", async () => "nothing", { readOnly: true })
    await assert.rejects(ask("go", { asks: "deny" }), { name: "Session.Looping" })
    const statuses = resultsOf(await messages()).map(({ status }) => status)
    assert.deepEqual(statuses, Array(7).fill("success"))
  })
})

test("Session.prompt() allows the same call again while its results differ", async () => {
  const script = [...Array.from({ length: 10 }, () => call("look", { value: "a" })), text("done")]
  await inWorld(script, async ({ ask, messages }) => {
    let n = 0
    defineTool("look", async () => `${n++}`, { readOnly: true })
    assert.equal(textOf(await ask("go")), "done")
    assert.deepEqual(
      resultsOf(await messages()).map(({ output }) => output),
      Array.from({ length: 10 }, (_, i) => String(i)),
    )
  })
})
