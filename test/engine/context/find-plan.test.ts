// The plan of a session at the start of a prompt: sent only if the model does not see it already.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as TodoList from "#ability/plan/todo-list.ts"
import { hasPlan } from "#engine/context/find-context.ts"
import { findPlan } from "#engine/context/find-plan.ts"
import { historyOf } from "#engine/record/history.ts"
import * as Session from "#engine/session/session.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { call, type Request, text } from "../../fixture/fake-llm.ts"
import type { World } from "../session/harness.ts"
import { inPatientWorld } from "../session/patient.ts"

const isSummary = ({ system }: Request) => /^You summarise/.test(system)
const plan = {
  title: "Build it",
  todos: [
    { id: "a", text: "Read", status: "done" as const },
    { id: "b", text: "Write", status: "in_progress" as const, after: ["a"] },
    { id: "c", text: "Check", status: "pending" as const, after: ["a", "b"] },
  ],
}
const told = "Plan: Build it (1 of 3 done)\n[>] b: Write\n[ ] c: Check (after b)\n[x] done: a"

/** The plan that a prompt would get, with the stored messages of the session in memory. */
async function found({ session }: World) {
  const history = Memory.begin(session.id)
  for (const message of await historyOf(session.id, "main")) history.push(message)
  try {
    return (await hasPlan(session.id))
      ? (await findPlan(session.id)).map(({ name, text }) => [name, text])
      : "none"
  } finally {
    Memory.rest(session.id)
  }
}

test("findPlan() returns an unfinished plan if the window does not show its current state", async () => {
  const script = [text("hello"), call("todo", plan), text("planned")]
  await inPatientWorld(script, async (world) => {
    const { session, ask } = world
    await ask("hello")
    assert.equal(await found(world), "none")
    await ask("plan it")
    assert.deepEqual(await found(world), [])
    // Another process changes the plan.
    await TodoList.update(session.id, [{ id: "b", text: "Write", status: "done" }])
    assert.deepEqual(await found(world), [
      ["Build it", "Plan: Build it (2 of 3 done)\n[ ] c: Check\n[x] done: a, b"],
    ])
    await TodoList.update(session.id, [{ id: "c", text: "Check", status: "done" }])
    assert.deepEqual(await found(world), [])
    await TodoList.update(session.id, [], { replace: true })
    assert.deepEqual(await found(world), [])
  })
})

test("findPlan() returns nothing while the front of a compacted history shows the plan", async () => {
  let turn = 0
  const answers = (request: Request) => {
    if (isSummary(request)) return text("SUMMARY")
    return turn++ === 0 ? call("todo", plan) : text(`answer ${"of some words ".repeat(20)}`)
  }
  await inPatientWorld(answers, async (world) => {
    const { session, ask, llm } = world
    for (let i = 0; i < 12; i++) await ask(`wish ${i}`)
    await Session.compact(session.id)
    await ask("go on")
    const sent = llm.requests.at(-1)!.raw
    assert.ok(sent.includes(JSON.stringify(told).slice(1, -1)), sent)
    assert.doesNotMatch(sent, /"todo"\s*,\s*"arguments"/)
    assert.deepEqual(await found(world), [])
    await TodoList.update(session.id, [{ id: "b", text: "Write it", status: "pending" }])
    assert.deepEqual(await found(world), [["Build it", told.replace("[>] b: Write", "[ ] b: Write it")]])
  })
})

test("findPlan() keeps a long plan within its budget, and shows the open steps", async () => {
  const todos = Array.from({ length: 200 }, (_, i) => ({
    id: `step-${i}`,
    text: `${i} ${"long words ".repeat(40)}`,
    status: i < 50 ? ("done" as const) : ("pending" as const),
    ...(i ? { after: [`step-${i - 1}`] } : {}),
  }))
  await inPatientWorld([call("todo", { title: "Long", todos }), text("planned")], async (world) => {
    await world.ask("plan it")
    await TodoList.update(world.session.id, [{ ...todos[50]!, status: "in_progress" }])
    const [[, words]] = (await found(world)) as [[string, string]]
    assert.ok(estimateTokens(words) < 700, `${estimateTokens(words)} tokens`)
    assert.match(words, /^Plan: Long \(50 of 200 done\)\n\[>\] step-50: 50 long/)
    assert.match(words, /\nand \d+ more\.$/)
  })
})
