import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { run } from "../../fixture/child.ts"
import { call, status as httpStatus, stall, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { until } from "../../fixture/until.ts"
import { inWorld, shapeOf, textOf } from "../session/harness.ts"

test("Session.prompt() needs a text and a session, and names what is missing; there is always a model", async () => {
  await inWorld([], async ({ ask, session, status, events }) => {
    await assert.rejects(ask("  \n"), { name: "Session.InvalidPrompt" })
    await assert.rejects(ask("x", { sessionId: "sess_none" }), { name: "Session.NotFound" })
    await assert.rejects(ask("x", { model: "nonsense" }), { name: "Session.InvalidModel" })
    assert.equal(await status(), "error")
    assert.equal((await Session.get(session.id)).error?.name, "Session.InvalidModel")
    assert.equal(events.at(-1)?.type, "session.error")
    delete process.env.VITAMIN_MODEL
    Object.assign(process.env, noServers)
    assert.match(textOf(await ask("hello")), /Hello/)
    assert.equal((await Session.get(session.id)).model, undefined)
    assert.equal(events.find(({ type }) => type === "model.chosen") !== undefined, true)
  })
})

test("Session.prompt() makes a title from the first prompt, and keeps an existing one", async () => {
  await inWorld([text("a"), text("b"), text("c")], async ({ ask, session }) => {
    await ask(`  ${"🙂".repeat(80)}\nsecond line`)
    assert.equal((await Session.get(session.id)).title, `${"🙂".repeat(59)}…`)
    await ask("something else")
    assert.equal((await Session.get(session.id)).title, `${"🙂".repeat(59)}…`)
    const titled = await Session.create({ title: "Mine" })
    await ask("words", { sessionId: titled.id })
    assert.equal((await Session.get(titled.id)).title, "Mine")
  })
})

test("Session.prompt() adds up tokens and money over turns and prompts", async () => {
  const usage = { input: 1_000, output: 100, cacheRead: 400 }
  const cost = { input: 2, output: 10, cacheRead: 1 }
  const openai = { models: { "fake-model": { cost } } }
  await inWorld(
    [call("ls", {}, { usage }), text("a", { usage }), text("b", { usage })],
    async ({ ask, session }) => {
      const answer = await ask("one")
      const { duration, ...usage } = answer.usage!
      assert.deepEqual(usage, { input: 1_000, output: 100, cacheRead: 400, cost: 0.0026 })
      assert.ok(duration! >= 0)
      await ask("two")
      const totals = (await Session.get(session.id)).usage
      assert.deepEqual([totals.input, totals.output, totals.cacheRead], [3_000, 300, 1_200])
      assert.ok(Math.abs(totals.cost - 0.0078) < 1e-9)
    },
    { config: { provider: { openai } } },
  )
})

test("Session.prompt() makes the session busy, then idle, and publishes both", async () => {
  await inWorld([text("a"), httpStatus(400), text("b")], async ({ ask, session, events, status, llm }) => {
    const seen = () =>
      events.flatMap(({ type, payload }) =>
        type === "session.updated" ? [(payload as { session: Session.Info }).session.status] : [],
      )
    await ask("one")
    assert.deepEqual([...new Set(seen())], ["busy", "idle"])
    assert.equal(events.at(-1)?.type, "session.idle")
    await assert.rejects(ask("two"), { data: { provider: "openai", status: 400 } })
    assert.equal(await status(), "error")
    assert.match((await Session.get(session.id)).error!.message, /status 400/)
    assert.equal(events.at(-1)?.type, "session.error")
    assert.equal(textOf(await ask("three")), "b")
    const after = await Session.get(session.id)
    assert.deepEqual([after.status, after.error, after.owner], ["idle", undefined, undefined])
    assert.equal(llm.requests.length, 3)
  })
})

test("Session.prompt() queues for a busy session, in order", async () => {
  await inWorld(
    [text("a", { delay: 20, deltas: 1 }), text("b"), text("c")],
    async ({ ask, messages, llm }) => {
      const answers = await Promise.all([ask("one"), ask("two"), ask("three")])
      assert.deepEqual(answers.map(textOf), ["a", "b", "c"])
      assert.deepEqual((await messages()).filter(({ type }) => type === "text").map(textOf), [
        "one",
        "a",
        "two",
        "b",
        "three",
        "c",
      ])
      assert.equal(llm.requests.length, 3)
    },
  )
})

test("Session.prompt() continues the queue after a failed prompt", async () => {
  await inWorld([httpStatus(400), text("b")], async ({ ask }) => {
    const [first, second] = await Promise.allSettled([ask("one"), ask("two")])
    assert.equal(first.status, "rejected")
    assert.equal(second.status === "fulfilled" && textOf(second.value), "b")
  })
})

test('Session.prompt({ whenBusy: "refuse" }) throws Session.Busy and leaves the work alone', async () => {
  await inWorld([text("a", { delay: 30, deltas: 1 })], async ({ ask, messages }) => {
    const work = ask("one")
    await assert.rejects(ask("two", { whenBusy: "refuse" }), { name: "Session.Busy" })
    assert.equal(textOf(await work), "a")
    assert.deepEqual(shapeOf(await messages()), ["user", "assistant"])
  })
})

test("Session.prompt() throws Session.Busy if another live process uses the session; after a dead one the session is interrupted", async () => {
  await inWorld([text("a")], async ({ ask, session, status, events }) => {
    const { projectId, id } = session
    await using child = run(process.execPath, [
      "-e",
      `const s = require("fs").readFileSync("/proc/self/stat", "latin1")
       console.log("started " + s.slice(s.lastIndexOf(")") + 2).split(" ")[19]); setInterval(() => {}, 1000)`,
    ])
    const started = (await child.line(/^started/)).split(" ")[1]!
    const owner = { pid: child.process.pid!, started }
    await Storage.update<Session.Info>(["session", projectId, id], (draft) =>
      Object.assign(draft, { status: "busy", owner }),
    )
    await assert.rejects(ask("one"), { name: "Session.Busy", message: new RegExp(`process ${owner.pid}`) })
    const told = events.flatMap(({ type, payload }) => (type === "session.error" ? [payload] : []))
    const message = `Session ${id} is busy in process ${owner.pid}.`
    assert.deepEqual(told, [{ sessionId: id, error: { name: "Session.Busy", message } }])
    await assert.rejects(Session.remove(id), { name: "Session.Busy" })
    assert.equal(await status(), "busy")
    child.process.kill("SIGKILL")
    await child.exit
    assert.equal(await status(), "interrupted")
    assert.equal((await Session.get(id)).owner, undefined)
    assert.equal(textOf(await ask("two")), "a")
  })
})

test("Session.prompt() in a second instance of one process throws Session.Busy", async () => {
  await inWorld([text("a", { delay: 50, deltas: 1 })], async ({ ask, tmp, llm }) => {
    tmp.write("inner/file", "")
    const work = ask("one")
    await until(() => llm.requests.length === 1)
    const second = Instance.provide({ directory: `${tmp.path}/inner`, fn: () => ask("two") })
    await assert.rejects(second, { name: "Session.Busy" })
    assert.equal(textOf(await work), "a")
  })
})

test("Session.prompt() keeps its instance in use until it is over", async () => {
  await inWorld([text("a", { delay: 60, deltas: 1 })], async ({ ask, tmp, llm }) => {
    tmp.write("inner/file", "")
    let work: Promise<unknown> | undefined
    await Instance.provide({
      directory: `${tmp.path}/inner`,
      async fn() {
        const { id } = await Session.create()
        work = ask("one", { sessionId: id })
      },
    })
    await until(() => llm.requests.length === 1)
    await Instance.disposeIdle({ olderThan: 0, keep: 0 })
    await work
  })
})

test("Session.prompt() is interrupted when its instance is disposed", async () => {
  await inWorld([stall(text("hello"), 200)], async ({ tmp, ask, llm }) => {
    tmp.write("inner/file", "")
    await Instance.provide({
      directory: `${tmp.path}/inner`,
      async fn() {
        const { id } = await Session.create()
        const work = ask("one", { sessionId: id }, { stall: 60_000 })
        work.catch(() => {})
        await until(() => llm.requests.length === 1)
        await Instance.dispose()
        await assert.rejects(work, { name: "Session.Interrupted", message: /runtime stops/ })
      },
    })
  })
})
