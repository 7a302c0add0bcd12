import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { promptWith } from "#engine/turn/prompt.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { call, calls, stall, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { hasty, inWorld, resultsOf, shapeOf, textOf } from "./harness.ts"

test("Session.fork() copies the messages up to and including the given one, and does not change the source", async () => {
  await inWorld([text("one"), text("two"), text("other")], async ({ session, ask, messages, events }) => {
    const first = await ask("first")
    await ask("second")
    const source = await Session.get(session.id)
    const before = await messages()
    const fork = await Session.fork(session.id, first.id)
    const copies = await Session.messages(fork.id)
    assert.deepEqual(
      copies,
      before.slice(0, 2).map((message) => ({ ...message, sessionId: fork.id })),
    )
    assert.equal(fork.parentId, session.id)
    assert.equal(fork.usage.input, 0)
    assert.equal(events.at(-1)?.type, "session.created")
    const answer = await promptWith({ sessionId: fork.id, text: "third" }, hasty)
    assert.equal(textOf(answer), "other")
    assert.deepEqual(await messages(), before)
    assert.deepEqual(await Session.get(session.id), source)
  })
})

test("Session.fork() in the middle of an exchange creates a session that takes a prompt", async () => {
  const both = calls([call("ls"), call("read", { path: "none" })])
  await inWorld([both, text("one"), text("other")], async ({ session, ask, messages, llm }) => {
    await ask("first")
    const request = (await messages()).find(({ type }) => type === "tool_request")!
    const fork = await Session.fork(session.id, request.id)
    assert.deepEqual(shapeOf(await Session.messages(fork.id)), ["user", "tool_request"])
    assert.equal(textOf(await promptWith({ sessionId: fork.id, text: "go on" }, hasty)), "other")
    const results = resultsOf(await Session.messages(fork.id))
    assert.deepEqual(
      results.map(({ status }) => status),
      ["interrupted", "interrupted"],
    )
    assert.equal(llm.requests.at(-1)!.messages.at(-1)!.text, "go on")
  })
})

test("Session.fork() of a running session copies a partial answer as interrupted", async () => {
  const long = stall(text("0123456789".repeat(20), { deltas: 20, delay: 5 }), 3_000)
  await inWorld([long], async ({ session, ask }) => {
    const work = ask("first", {}, { keepEvery: 1, stall: 60_000 })
    work.catch(() => {})
    await until(async () => (await MessageStore.list(session.id)).length === 2)
    const fork = await Session.fork(session.id)
    const last = (await Session.messages(fork.id)).at(-1)
    assert.equal(last?.type === "text" && last.data.finish, "interrupted")
    assert.equal(fork.status, "idle")
    assert.equal(fork.owner, undefined)
    Session.abort(session.id)
    await assert.rejects(work)
  })
})

test("Session.fork() at an unknown message throws", async () => {
  await inWorld([], async ({ session }) => {
    await assert.rejects(Session.fork(session.id, "msg_none"), { name: "Session.MessageNotFound" })
    await assert.rejects(Session.fork("sess_none"), { name: "Session.NotFound" })
    assert.deepEqual(await Session.messages((await Session.fork(session.id)).id), [])
  })
})
