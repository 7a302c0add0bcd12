import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { call, stall, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { filesOf, inWorld } from "./harness.ts"

test("Session.create() stores the session, then publishes session.created", async () => {
  await inWorld([], async () => {
    let kept: Promise<unknown> | undefined
    Bus.subscribe(Session.Created, ({ session }) => {
      kept = Storage.read(["session", session.projectId, session.id])
    })
    const made = await Session.create({ agent: "build", title: "A title", metadata: { a: 1 } })
    assert.deepEqual(await kept, made)
    assert.match(made.id, /^sess_/)
    assert.equal(made.directory, Instance.directory)
    assert.equal(made.projectId, Instance.project.id)
    assert.equal(made.status, "idle")
    assert.deepEqual(made.metadata, { a: 1 })
  })
})

test("Session.list() returns the last used session first, and a broken record does not hide others", async () => {
  await inWorld([text("hi")], async ({ session, ask }) => {
    const second = await Session.create()
    const third = await Session.create()
    await ask("hello")
    const folder = join(Global.data(), "storage", "session", session.projectId)
    writeFileSync(join(folder, "sess_broken.json"), "{ not json")
    writeFileSync(join(folder, "sess_wrong.json"), '{ "id": 7 }')
    assert.deepEqual(
      (await Session.list()).map(({ id }) => id),
      [session.id, third.id, second.id],
    )
    await assert.rejects(Session.get("sess_wrong"), { name: "Session.Invalid" })
  })
})

test("Session.get() finds a session of another project, and throws for an unknown one", async () => {
  await inWorld([], async ({ tmp }) => {
    const other = join(tmp.path, "..", "other")
    mkdirSync(other)
    const made = await Session.create({ directory: other })
    assert.notEqual(made.projectId, Instance.project.id)
    assert.deepEqual(await Session.get(made.id), made)
    assert.equal(
      (await Session.list()).some(({ id }) => id === made.id),
      false,
    )
    await assert.rejects(Session.get("sess_none"), { name: "Session.NotFound", message: /sess_none/ })
    await assert.rejects(Session.get("../../etc"), { name: "Session.NotFound" })
  })
})

test("Session.remove() also removes the messages, and publishes session.removed", async () => {
  await inWorld([text("hi")], async ({ session, ask, events }) => {
    await ask("hello")
    assert.equal(filesOf(session.id).length, 2)
    await Session.remove(session.id)
    assert.deepEqual(await Storage.list(["message", session.id]), [])
    await assert.rejects(Session.get(session.id), { name: "Session.NotFound" })
    await assert.rejects(Session.remove(session.id), { name: "Session.NotFound" })
    assert.deepEqual(events.at(-1)?.type, "session.removed")
  })
})

test("Session.remove() stops a busy session, and nothing of it is written again", async () => {
  await inWorld([stall(text("hello there", { deltas: 5 }), 600)], async ({ session, ask, llm }) => {
    const work = ask("hello", {}, { stall: 60_000 })
    work.catch(() => {})
    await until(() => llm.requests.length === 1)
    await Session.remove(session.id)
    await assert.rejects(work, { name: "Session.Interrupted", message: /removed/ })
    await assert.rejects(Session.get(session.id), { name: "Session.NotFound" })
    assert.deepEqual(await Storage.list(["message", session.id]), [])
  })
})

test("Session.remove() ends the background jobs of the session", async () => {
  const nap = `sleep ${uniqueNap()}`
  const script = [call("bash", { command: `${nap} & ${nap}`, background: true }), text("started")]
  await inWorld(script, async ({ session, ask }) => {
    await ask("go", { asks: "once" })
    assert.ok(running(nap).length > 0)
    await Session.remove(session.id)
    assert.deepEqual(running(nap), [])
  })
})

test("Session.messages() returns a branch in order, or all messages", async () => {
  await inWorld([call("read", { path: "a" }), text("hi")], async ({ session, ask, messages }) => {
    await ask("hello")
    const found = await messages()
    assert.deepEqual(
      found.map(({ type }) => type),
      ["text", "tool_request", "tool_result", "text"],
    )
    assert.deepEqual(await Session.messages(session.id, { all: true }), found)
    assert.deepEqual(await Session.messages(session.id, { branch: "main" }), found)
    await assert.rejects(Session.messages(session.id, { branch: "none" }), { name: "Session.BranchNotFound" })
  })
})
