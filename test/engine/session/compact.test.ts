import assert from "node:assert/strict"
import { test } from "node:test"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Session from "#engine/session/session.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { call, type Request, stall, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { checkWire } from "../../fixture/wire-rules.ts"
import { textOf, type World } from "./harness.ts"
import { inPatientWorld } from "./patient.ts"

const isSummary = ({ system }: Request) => /^You summarise/.test(system)
const answers = (request: Request) =>
  isSummary(request) ? text("SUMMARY OF THE MODEL") : text(`answer ${"of some words ".repeat(20)}`)

async function talk({ ask }: World, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) await ask(`wish ${i}.`)
}

/** The person's texts that were sent as messages, not as part of the front. */
function wishes(request: Request): string[] {
  return request.messages
    .flatMap(({ role, text }) =>
      role === "user"
        ? [...text.replace(/^The earlier part[\s\S]*?(?=wish \d+\.$)/, "").matchAll(/^wish (\d+)\.$/gm)]
        : [],
    )
    .map(([, number]) => number!)
}

test("Session.compact() sends a summary instead of older turns, and keeps every message", async () => {
  await inPatientWorld(answers, async (world) => {
    const { session, messages, llm, events } = world
    await talk(world, 0, 10)
    const before = await messages()
    const { usage } = await Session.get(session.id)
    const compacted = await Session.compact(session.id)
    assert.equal(compacted.status, "idle")
    assert.equal(compacted.usage.input, usage.input + 100)
    const after = await messages()
    assert.deepEqual(after.slice(0, -1), before)
    const { compaction, start } = Session.window(after)
    assert.equal(compaction?.by, "model")
    assert.equal(compaction?.summary, "SUMMARY OF THE MODEL")
    assert.ok(start > 0)
    assert.equal(after[start]!.id, compaction?.keptFrom)
    assert.ok(events.some(({ type }) => type === "session.compacted"))
    await world.ask("wish 10.")
    const last = llm.requests.at(-1)!
    checkWire(last)
    assert.match(last.messages[0]!.text, /SUMMARY OF THE MODEL[\s\S]*\(1 of 10\) wish 0\./)
    assert.ok(last.messages.length < before.length)
  })
})

test("Session.compact() does nothing without older messages, and does not wait for a busy session", async () => {
  let isSlow = false
  const script = (request: Request) => (isSlow ? stall(text("slow"), 10) : answers(request))
  await inPatientWorld(script, async ({ session, messages, ask }) => {
    await Session.compact(session.id)
    assert.deepEqual(await messages(), [])
    await ask("one")
    await Session.compact(session.id)
    assert.equal((await messages()).length, 2)
    isSlow = true
    const working = ask("two", {}, { stall: 60_000 })
    await until(async () => (await messages()).length === 3)
    await assert.rejects(Session.compact(session.id), { name: "Session.Busy" })
    Session.abort(session.id)
    await assert.rejects(working, { name: "Session.Interrupted" })
    await assert.rejects(Session.compact("sess_none"), { name: "Session.NotFound" })
  })
})

test("Session.compact() without a model extracts the summary from the messages", async () => {
  await inPatientWorld(answers, async (world) => {
    const { session, messages, llm } = world
    await talk(world, 0, 6)
    const asked = llm.requests.length
    delete process.env.OPENAI_API_KEY
    delete process.env.OPENAI_BASE_URL
    await Session.compact(session.id)
    assert.equal(llm.requests.length, asked)
    const { compaction } = Session.window(await messages())
    assert.equal(compaction?.by, "extract")
    assert.match(compaction!.summary, /It began with: wish 0\./)
  })
})

test("a compaction pins the task list, open and refused calls, changed files and attached files", async () => {
  await inPatientWorld(answers, async (world) => {
    const { session, llm, messages } = world
    await TodoList.update(session.id, [
      { text: "mend the parser", status: "in_progress" },
      { text: "write the tests", status: "pending" },
    ])
    const place = { sessionId: session.id }
    const request = Message.make({
      ...place,
      parentId: null,
      type: "tool_request",
      data: {
        calls: [
          { id: "a", name: "bash", arguments: { command: "deploy --now" }, approval: "pending" },
          { id: "b", name: "bash", arguments: { command: "rm -rf build" }, approval: "denied" },
          { id: "c", name: "edit", arguments: { path: "src/parser.ts" }, approval: "approved" },
        ],
      },
    })
    const result = Message.make({
      ...place,
      parentId: request.id,
      type: "tool_result",
      data: {
        requestId: "c",
        toolName: "edit",
        status: "success",
        output: "edited",
        duration: 1,
        timestamp: 1,
        metadata: { title: "src/parser.ts (+3 -1)", data: { path: "src/parser.ts" } },
      },
    })
    const file = Message.make({
      ...place,
      parentId: result.id,
      type: "file_reference",
      data: { path: "docs/rules.md", startLine: 3, endLine: 9, status: "resolved", content: "rules" },
    })
    for (const message of [request, result, file]) await MessageStore.write(message)
    await talk(world, 0, 8)
    await Session.setMode(session.id, "plan")
    await Session.compact(session.id)
    await world.ask("go on")
    const front = llm.requests.at(-1)!.messages[0]!.text
    for (const item of [
      "[>] mend the parser",
      "[ ] write the tests",
      'bash {"command":"deploy --now"}',
      'bash {"command":"rm -rf build"}',
      "- src/parser.ts, 1×, last: src/parser.ts (+3 -1)",
      "- docs/rules.md:3-9",
      "in plan mode",
    ])
      assert.ok(front.includes(item), `${item} is not in\n${front}`)
    assert.match(llm.requests.at(-1)!.system, /Plan mode/)
    checkWire(llm.requests.at(-1)!)
    // A second compaction, of the compacted history.
    await talk(world, 20, 28)
    await Session.compact(session.id)
    await world.ask("and on")
    assert.ok(Session.window(await messages()).compaction!.pinned.includes("deploy --now"))
    assert.match(llm.requests.filter(isSummary).at(-1)!.raw, /SUMMARY OF THE MODEL/)
  })
})

test("messages before a compaction can be reverted, forked and branched from, and are then sent unchanged", async () => {
  await inPatientWorld(answers, async (world) => {
    const { session, llm, messages, ask } = world
    await talk(world, 0, 8)
    const old = await messages()
    await Session.compact(session.id)
    await talk(world, 8, 10)
    const wish5 = old.find((message) => message.type === "text" && textOf(message) === "wish 5.")!
    const before5 = old[old.indexOf(wish5) - 1]!

    const whole = await Session.fork(session.id)
    await ask("wish 10.", { sessionId: whole.id })
    assert.match(llm.requests.at(-1)!.raw, /SUMMARY OF THE MODEL/)

    const early = await Session.fork(session.id, before5.id)
    await ask("wish 50.", { sessionId: early.id })
    assert.doesNotMatch(llm.requests.at(-1)!.raw, /SUMMARY OF THE MODEL/)
    assert.deepEqual(wishes(llm.requests.at(-1)!), ["0", "1", "2", "3", "4", "50"])

    await Session.branch(session.id, "other", { from: before5.id })
    await ask("wish 60.")
    assert.deepEqual(wishes(llm.requests.at(-1)!), ["0", "1", "2", "3", "4", "60"])
    await Session.switchBranch(session.id, "main")
    await ask("wish 61.")
    assert.match(llm.requests.at(-1)!.raw, /SUMMARY OF THE MODEL/)

    await Session.revert(session.id, wish5.id)
    await ask("wish 70.")
    assert.deepEqual(wishes(llm.requests.at(-1)!), ["0", "1", "2", "3", "4", "70"])
    for (const request of llm.requests) checkWire(request)
  })
})

test("an interruption while a summary is written leaves the history unchanged", async () => {
  const config = { provider: { openai: { models: { "fake-model": { context: 10_000, output: 1_000 } } } } }
  let isSlow = true
  const script = (request: Request) => {
    if (isSummary(request)) return isSlow ? stall(text("never"), 10) : text("SUMMARY")
    return text("words of an answer ".repeat(400), {
      usage: { input: Math.ceil(request.raw.length / 3), output: 900 },
    })
  }
  await inPatientWorld(
    script,
    async ({ ask, session, messages, llm }) => {
      const work = async () => {
        for (let i = 0; i < 20; i++) await ask(`wish ${i}.`, {}, { stall: 60_000 })
      }
      const working = work()
      await until(() => llm.requests.some(isSummary), "a summary")
      Session.abort(session.id)
      await assert.rejects(working, { name: "Session.Interrupted" })
      assert.equal(Session.window(await messages()).compaction, undefined)
      isSlow = false
      assert.match(textOf(await ask("go on")), /words of an answer/)
      assert.equal(Session.window(await messages()).compaction?.summary, "SUMMARY")
    },
    { config },
  )
})

test("Memory has all messages of a session and the state of its task", async () => {
  let n = 0
  const script = () => (++n % 2 ? call("bash", { command: `echo ${n}` }) : text(`done ${n}`))
  await inPatientWorld(script, async ({ ask, session, messages }) => {
    for (let i = 0; i < 13; i++) await ask(`wish ${i}.`, { asks: "once" })
    const memory = Memory.shortTerm(session.id)
    assert.ok(memory.messages().length >= 50)
    assert.deepEqual(
      memory.messages().map(({ id }) => id),
      (await messages()).map(({ id }) => id),
    )
    assert.equal(memory.shouldSummarize({ limit: 100_000 }), false)
    assert.equal(memory.shouldSummarize({ limit: 50 }), true)
    const { goal, request, commands, results } = Memory.working(session.id).state()
    assert.deepEqual([goal, request], ["wish 0.", "wish 12."])
    assert.deepEqual(commands.at(-1), { command: "echo 25", outcome: "ok" })
    assert.equal(results.length, 13)
    await Session.remove(session.id)
    assert.deepEqual(Memory.shortTerm(session.id).messages(), [])
  })
})

test("Session.compact() also leaves out a last answer that is larger than the window", async () => {
  const config = { provider: { openai: { models: { "fake-model": { context: 10_000, output: 1_000 } } } } }
  const script = (request: Request) =>
    isSummary(request)
      ? text("SUMMARY OF THE MODEL")
      : text(request.messages.length > 2 ? "世界".repeat(9_000) : "ok")
  await inPatientWorld(
    script,
    async ({ ask, session, messages, llm }) => {
      await ask("wish 0.")
      await ask("wish 1.")
      await Session.compact(session.id)
      assert.equal(Session.window(await messages()).compaction?.keptFrom, null)
      await ask("wish 2.")
      assert.match(llm.requests.at(-1)!.raw, /SUMMARY OF THE MODEL/)
      for (const i of [0, 1, 2]) assert.match(llm.requests.at(-1)!.raw, new RegExp(`wish ${i}\\.`))
      checkWire(llm.requests.at(-1)!)
    },
    { config },
  )
})
