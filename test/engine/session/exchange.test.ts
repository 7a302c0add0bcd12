import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { promptWith } from "#engine/turn/prompt.ts"
import { badCall, call, calls, reasoning, text } from "../../fixture/fake-llm.ts"
import { hasty, inWorld, textOf } from "./harness.ts"

test("Session.export() and Session.import() carry a session through JSON and back", async () => {
  const script = [reasoning("hm", call("ls")), text("one"), text("two")]
  await inWorld(
    script,
    async ({ session, ask, messages }) => {
      await ask("first")
      const before = await messages()
      const { usage, title } = await Session.get(session.id)
      const json = JSON.stringify(await Session.export(session.id))
      await Session.remove(session.id)
      const made = await Session.import(JSON.parse(json))
      assert.equal(made.id, session.id)
      assert.deepEqual(await messages(), before)
      assert.deepEqual([made.usage, made.title], [usage, title])
      assert.equal(textOf(await promptWith({ sessionId: made.id, text: "second" }, hasty)), "two")
    },
    { wire: "messages" },
  )
})

test("Session.import() uses a new id if the old one exists", async () => {
  await inWorld([text("one")], async ({ session, ask, messages }) => {
    await ask("first")
    const before = await messages()
    const made = await Session.import(await Session.export(session.id))
    assert.notEqual(made.id, session.id)
    assert.deepEqual(
      await Session.messages(made.id),
      before.map((message) => ({ ...message, sessionId: made.id })),
    )
    assert.deepEqual(await messages(), before)
  })
})

test("Session.import() and Session.fork() ignore the tip in the other session's record", async () => {
  await inWorld([text("one"), text("two"), text("three"), text("four")], async ({ session, ask, llm }) => {
    await ask("first")
    const early = await Session.get(session.id)
    await ask("second")
    const data = await Session.export(session.id)
    await Session.remove(session.id)
    const made = await Session.import({ ...data, session: { ...data.session, tip: early.tip } })
    const fork = await Session.fork(made.id)
    for (const { id } of [made, fork]) {
      await promptWith({ sessionId: id, text: "third" }, hasty)
      const said = llm.requests.at(-1)!.messages.map((message) => message.text)
      assert.deepEqual(said, ["first", "one", "second", "two", "third"])
    }
  })
})

test("Session.import() refuses invalid data before it writes anything", async () => {
  await inWorld([text("one")], async ({ session, ask }) => {
    await ask("first")
    const good = await Session.export(session.id)
    const bad = [
      undefined,
      {},
      { ...good, vitamin: 2 },
      { ...good, messages: [...good.messages, 7] },
      { ...good, messages: [...good.messages, { ...(good.messages[0] as object), id: "../../evil" }] },
    ]
    for (const data of bad) await assert.rejects(Session.import(data), { name: "Session.InvalidImport" })
    assert.equal((await Session.list()).length, 1)
    const outside = await Session.import({ ...good, session: { ...good.session, id: "../../evil" } })
    assert.match(outside.id, /^sess_/)
  })
})

test("Session.import() refuses duplicate messages, messages of another session, cycles and missing parents", async () => {
  await inWorld([text("one")], async ({ session, ask }) => {
    await ask("first")
    const good = await Session.export(session.id)
    const [first, second] = good.messages as [object & { id: string }, object & { id: string }]
    const refused: [messages: object[], reason: RegExp][] = [
      [[first, second, second], new RegExp(`message ${second.id} occurs twice`)],
      [
        [first, { ...second, sessionId: "sess_other" }],
        new RegExp(`message ${second.id} is of another session, sess_other`),
      ],
      [[{ ...first, parentId: second.id }, second], /is its own ancestor/],
      [
        [first, { ...second, parentId: "msg_none" }],
        new RegExp(`message ${second.id} follows msg_none, which does not exist`),
      ],
    ]
    for (const [messages, reason] of refused)
      await assert.rejects(Session.import({ ...good, messages }), {
        name: "Session.InvalidImport",
        message: reason,
      })
    assert.equal((await Session.list()).length, 1)
  })
})

test("Session.exportMarkdown() shows texts, calls and results", async () => {
  const script = [reasoning("thinking", calls([call("ls"), badCall("read", "{oops")])), text("All `done`.")]
  await inWorld(
    script,
    async ({ session, ask }) => {
      await ask("What is here?")
      const markdown = await Session.exportMarkdown(session.id)
      for (const words of ["# What is here?", "## user", "> thinking", "**ls**", "{oops", "All `done`."])
        assert.ok(markdown.includes(words), `${words} in ${markdown}`)
    },
    { wire: "messages" },
  )
})
