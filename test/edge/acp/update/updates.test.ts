// The updates of a running session.
import assert from "node:assert/strict"
import { test } from "node:test"
import { followSession } from "#edge/acp/update/updates.ts"
import * as Session from "#engine/session/session.ts"
import { promptWith } from "#engine/turn/prompt.ts"
import type * as Message from "#knowledge/message/message.ts"
import { defineTool, hasty, inWorld, textOf } from "../../../engine/session/harness.ts"
import { call, calls, cut, errorEvent, reasoning, stall, text, wires } from "../../../fixture/fake-llm.ts"
import { until } from "../../../fixture/until.ts"
import { createEditor, textIn } from "../editor.ts"
import { inFollowed } from "../followed.ts"

function thoughtsOf(message: Message.Info | undefined): string {
  const parts = message?.type === "text" ? message.data.parts : []
  return parts.flatMap(({ type, text }) => (type === "reasoning" ? [text] : [])).join("")
}

for (const wire of wires)
  test(`reasoning and text arrive in order and add up to the stored messages, over ${wire}`, async () => {
    const script = [
      reasoning("First I look around. ", calls([text("I look. ", { deltas: 4 }), call("ls")])),
      reasoning("Now I know it: größer ✓", text("Es ist größer → ✓, two words more.", { deltas: 12 })),
    ]
    await inFollowed(
      script,
      async ({ ask, messages, editor }) => {
        await ask("go")
        const stored = (await messages()).filter(
          (message) => message.type === "text" && message.data.role === "assistant",
        )
        assert.deepEqual(editor.texts("agent"), stored.map(textOf))
        assert.deepEqual(editor.texts("thought"), stored.map(thoughtsOf).filter(Boolean))
        assert.deepEqual(editor.texts("user"), [], "the editor knows what its person said")
        const order = editor.shown().map((entry) => ("who" in entry ? entry.who : "call"))
        assert.deepEqual(
          order.filter((who) => who !== "thought"),
          ["agent", "call", "agent"],
        )
      },
      { wire },
    )
  })

for (const [name, keepEvery] of [
  ["that was not stored yet", 60_000],
  ["that was already stored", 1],
] as const)
  test(`a retried answer ${name} is not shown as one repeated text`, async () => {
    const words = "one two three four five six"
    const broken = errorEvent(text(words, { deltas: 6, delay: 20 }))
    await inFollowed([broken, broken, text(words, { deltas: 6 })], async ({ ask, messages, editor }) => {
      await ask("go", {}, { keepEvery })
      const [first, second, last] = editor.texts("agent")
      const ending = /^(one.*)\n\n\[The answer broke off and is requested again\.\]\n\n$/
      for (const said of [first, second]) assert.ok(words.startsWith(ending.exec(said!)![1]!), said)
      assert.equal(last, words)
      assert.equal(editor.texts("agent").length, 3)
      assert.equal(textOf((await messages()).at(-1)), words)
    })
  })

test("an interrupted answer is reported exactly as far as it is stored", async () => {
  const script = [stall(text("one two three four five six", { deltas: 6 }), 900)]
  await inFollowed(script, async ({ ask, messages, editor, session }) => {
    const work = ask("go", {}, { stall: 60_000 })
    await until(() => editor.texts("agent").join("").includes("two"), "some words")
    Session.abort(session.id)
    await assert.rejects(work, { name: "Session.Interrupted" })
    const last = (await messages()).at(-1)
    assert.deepEqual(editor.texts("agent"), [textOf(last)])
  })
})

test("an answer that fails after all retries is reported once", async () => {
  const script = Array.from({ length: 6 }, () => cut(text("one two three four", { deltas: 4 }), 500))
  await inFollowed(script, async ({ ask, editor }) => {
    await assert.rejects(ask("go"))
    for (const said of editor.texts("agent")) assert.equal(said.match(/one/g)?.length, 1, said)
  })
})

test("read-only calls run in parallel and finish once each; a writing call runs after them", async () => {
  const names = ["a.txt", "b.txt", "c.txt"]
  const script = [
    calls([...names.map((path) => call("read", { path })), call("write", { path: "d.txt", content: "d\n" })]),
    text("done"),
  ]
  await inFollowed(script, async ({ tmp, ask, editor }) => {
    for (const name of names) tmp.write(name, `${name}\n`)
    await ask("go", { asks: "once" })
    const called = editor.calls()
    assert.deepEqual(
      called.map(({ statuses }) => statuses.join(" ")),
      Array.from({ length: 4 }, () => "pending in_progress completed"),
    )
    for (const [i, name] of names.entries()) assert.match(textIn(called[i]!), new RegExp(`1.*${name}`))
    const steps = editor.of("tool_call_update").filter(({ status }) => status)
    const at = (id: string, status: string) =>
      steps.findIndex((step) => step.toolCallId === id && step.status === status)
    const [write, reads] = [called[3]!, called.slice(0, 3)]
    for (const read of reads)
      assert.ok(at(read.toolCallId, "completed") < at(write.toolCallId, "in_progress"))
  })
})

test("a call id that the model uses again in a later turn is reported as another call", async () => {
  const script = [
    call("read", { path: "a.txt" }, { id: "call_0" }),
    call("read", { path: "b.txt" }, { id: "call_0" }),
    text("done"),
  ]
  await inFollowed(script, async ({ tmp, ask, editor }) => {
    tmp.write("a.txt", "first\n")
    tmp.write("b.txt", "second\n")
    await ask("go")
    const [first, second] = editor.calls()
    assert.match(textIn(first!), /first/)
    assert.match(textIn(second!), /second/)
  })
})

test("updates of two sessions that run in one instance do not mix", async () => {
  await inWorld(
    ({ messages }) => {
      const name = /session (\w+)/.exec(messages[0]!.text)![1]!
      if (!messages.some(({ results }) => results.length)) return call("echo", { value: name })
      return text(`This is ${name}. `.repeat(20), { deltas: 20, delay: 1 })
    },
    async () => {
      defineTool("echo", async ({ value }) => `echo of ${value}`, { readOnly: true })
      const work = ["red", "blue", "green"].map(async (name) => {
        const session = await Session.create()
        const editor = createEditor()
        const { stop } = followSession({ sessionId: session.id, send: editor.send, client: {} })
        await promptWith({ sessionId: session.id, text: `session ${name}` }, hasty)
        stop()
        return { name, editor, stored: (await Session.messages(session.id)).at(-1) }
      })
      for (const { name, editor, stored } of await Promise.all(work)) {
        assert.deepEqual(editor.texts("agent"), [textOf(stored)])
        assert.match(textOf(stored), new RegExp(`^(This is ${name}\\. )+$`))
        assert.match(textIn(editor.calls()[0]!), new RegExp(`echo of ${name}`))
        assert.equal(editor.calls().length, 1)
        for (const other of ["red", "blue", "green"])
          assert.equal(JSON.stringify(editor.updates).includes(other), other === name)
      }
    },
  )
})

test("no update is sent after following stops", async () => {
  await inWorld([text("one"), text("two")], async ({ ask, session }) => {
    const editor = createEditor()
    const { stop } = followSession({ sessionId: session.id, send: editor.send, client: {} })
    await ask("first")
    stop()
    const { length } = editor.updates
    await ask("second")
    assert.equal(editor.updates.length, length)
    assert.deepEqual(editor.texts("agent"), ["one"])
  })
})

test("followSession() of a session with a history reports only later prompts", async () => {
  await inWorld([call("ls"), text("one"), call("ls"), text("two")], async ({ ask, session }) => {
    await ask("first")
    const editor = createEditor()
    followSession({ sessionId: session.id, send: editor.send, client: {} })
    await ask("second")
    assert.deepEqual(
      editor.shown().map((entry) => ("who" in entry ? entry.text : entry.statuses.at(-1))),
      ["completed", "two"],
    )
  })
})
