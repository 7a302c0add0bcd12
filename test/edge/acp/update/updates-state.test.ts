// Updates about plan, title, mode, context window and costs, and updates that only some editors support.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { setAnswerer } from "#engine/session/settings.ts"
import { call, text } from "../../../fixture/fake-llm.ts"
import { until } from "../../../fixture/until.ts"
import { all, inFollowed } from "../followed.ts"

const priced = {
  provider: {
    openai: {
      models: { "fake-model": { context: 50_000, output: 4_000, cost: { input: 100, output: 1_000 } } },
    },
  },
}

test("the task list is sent as a plan, complete each time", async () => {
  const first = [
    { text: "look", status: "in_progress" },
    { text: "write", status: "pending" },
  ]
  const script = [
    call("todo", { todos: first }),
    call("todo", { todos: [{ text: "look", status: "done" }] }),
    call("todo", { todos: [], replace: true }),
    text("done"),
  ]
  await inFollowed(script, async ({ ask, editor }) => {
    await ask("go")
    assert.deepEqual(
      editor.of("plan").map(({ entries }) => entries.map(({ content, status }) => `${content} ${status}`)),
      [["look in_progress", "write pending"], ["look completed", "write pending"], []],
    )
  })
})

test("the title of a session is reported once, with the time", async () => {
  await inFollowed([text("one"), text("two")], async ({ ask, editor }) => {
    await ask("Count the files\nof this folder")
    await ask("again")
    const told = editor.of("session_info_update")
    assert.deepEqual(
      told.map(({ title }) => title),
      ["Count the files"],
    )
    assert.ok(Date.parse(told[0]!.updatedAt!) > 0)
  })
})

test("a change of mode, model or agent is reported with the current options", async () => {
  await inFollowed([text("one")], async ({ ask, session, editor }) => {
    await ask("go")
    const before = editor.updates.length
    await Session.setMode(session.id, "plan")
    const options = () => editor.of("config_option_update").at(-1)?.configOptions ?? []
    const current = (id: string) => options().find((option) => option.id === id)?.currentValue
    await until(() => current("mode") === "plan", "the new mode among the options")
    const modes = editor.updates
      .slice(before)
      .filter(({ sessionUpdate }) => sessionUpdate === "current_mode_update")
    assert.deepEqual(modes, [{ sessionUpdate: "current_mode_update", currentModeId: "plan" }])
    await setAnswerer(session.id, { model: "local/rules" })
    await until(() => current("model") === "local/rules", "the new model among the options")
    assert.equal(current("mode"), "plan")
  })
})

test("window and costs are reported with every answer, and finally equal the session's totals", async () => {
  const usage = { input: 1_000, output: 100 }
  const script = [
    call("ls", {}, { usage }),
    text("one", { usage }),
    text("two", { usage: { input: 2_000, output: 10 } }),
  ]
  await inFollowed(
    script,
    async ({ ask, session, editor }) => {
      await ask("go")
      await ask("on")
      const told = editor.of("usage_update")
      const { usage } = await Session.get(session.id)
      assert.ok(told.every(({ size }) => size === 50_000))
      assert.deepEqual([...new Set(told.map(({ used }) => used))], [1_100, 2_010])
      const amounts = told.map(({ cost }) => cost!.amount)
      assert.deepEqual(
        amounts,
        amounts.toSorted((a, b) => a - b),
      )
      assert.equal(amounts[0]!.toFixed(4), "0.2000")
      assert.equal(amounts.at(-1), usage.cost)
      assert.equal(told.at(-1)!.cost!.currency, "USD")
    },
    { config: priced },
  )
})

test("no costs are reported if prices are unknown", async () => {
  await inFollowed([text("one")], async ({ ask, editor }) => {
    await ask("go")
    const [told] = editor.of("usage_update")
    assert.deepEqual([told!.used, told!.cost], [110, undefined])
    assert.ok(told!.size > 0)
  })
})

test("an editor is told what a guard blocked", async () => {
  const config = { guards: { late: { block: "ls", because: "it is late" } } }
  await inFollowed(
    [call("ls"), text("Fine.")],
    async ({ ask, editor }) => {
      await ask("go")
      const titles = editor.of("notice").map(({ title }) => title)
      assert.deepEqual(titles, ['guard "late" blocked ls: it is late.'])
    },
    { client: all, config },
  )
})

for (const [name, client, count] of [
  ["an editor that supports them", all, 1],
  ["any other editor", {}, 0],
] as const)
  test(`compactions and notices are ${count ? "sent" : "not sent"} to ${name}`, async () => {
    const long = "some words that take room ".repeat(400)
    const script = [text(long), text(long), text("Goal: the summary."), text("after")]
    await inFollowed(
      script,
      async ({ ask, session, editor, events }) => {
        await ask("one")
        await ask("two")
        await Session.compact(session.id)
        await ask("look at @files:notes://one")
        const compactions = editor.of("compaction_update")
        assert.equal(compactions.length, count)
        assert.equal(editor.of("notice").length, count)
        assert.equal(events.filter(({ type }) => type === "session.notice").length, 1)
        for (const { status, summary } of compactions) {
          assert.equal(status, "completed")
          assert.match(JSON.stringify(summary), /the summary/)
        }
        for (const { severity, title } of editor.of("notice"))
          assert.match(`${severity} ${title}`, /^info .*no MCP server "files"/)
        const compacted = events.find(({ type }) => type === "session.compacted")!
        const { tokensAfter } = compacted.payload as { tokensAfter: number }
        assert.ok(editor.of("usage_update").some(({ used }) => used === tokensAfter))
      },
      { client, config: priced },
    )
  })
