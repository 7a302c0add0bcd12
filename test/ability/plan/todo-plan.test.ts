// Plans that the todo tool writes: steps with ids that depend on others, and the relations that are stored.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as TodoList from "#ability/plan/todo-list.ts"
import type { Json } from "#ability/tool/tool.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import { call, free, inProject } from "../tool/harness.ts"

type Item = TodoList.Item
const run = (args: Json) => call("todo", args, { slots: free, sessionId: "ses_1" })
const step = (id: string, after?: string[], status: Item["status"] = "pending"): Item => ({
  text: `Do ${id}`,
  status,
  id,
  ...(after ? { after } : {}),
})

test("todo stores a plan as relations: steps, and what each waits for", async () => {
  await inProject(async () => {
    const made = await run({
      title: "Build it",
      // One may wait for what comes later in the list.
      todos: [step("c", ["a", "b"]), step("a", undefined, "done"), step("b", ["a"], "in_progress")],
    })
    assert.equal(made.text, "Plan: Build it\n[ ] c: Do c (after a, b)\n[x] a: Do a\n[>] b: Do b (after a)")
    const store = createRelationStore({ initialNodes: await TodoList.nodes("ses_1") })
    assert.deepEqual(
      store.byEdgeType("plan").map(({ context }) => context),
      [{ description: "Build it", status: "in_progress" }],
    )
    assert.deepEqual(
      store.byEdgeType("step").map(({ id, parents }) => [id, ...parents]),
      [
        ["c", "plan:1", "a", "b"],
        ["a", "plan:1"],
        ["b", "plan:1", "a"],
      ],
    )
    assert.deepEqual(
      store.descendants("a").map(({ id }) => id),
      ["c", "b"],
    )
  })
})

test("todo merges by id: a text may change, what an item waits for stays unless it is given", async () => {
  await inProject(async () => {
    await run({
      title: "Build it",
      todos: [step("a"), step("b", ["a"]), { text: "Ship", status: "pending" }],
    })
    const merged = await run({
      todos: [
        { id: "b", text: "Do b well", status: "in_progress" },
        { text: "ship", status: "pending", after: ["Do b well"] },
      ],
    })
    assert.equal(merged.text, "Plan: Build it\n[ ] a: Do a\n[>] b: Do b well (after a)\n[ ] Ship (after b)")
    // One that had no id gets one, and who waits for it still does.
    await run({ todos: [{ text: "Rest", status: "pending", after: ["SHIP"] }] })
    const named = await run({ todos: [{ id: "s", text: "Ship", status: "done", after: [] }] })
    assert.match(named.text, /\n\[x\] s: Ship\n\[ \] Rest \(after s\)$/)
    assert.equal((await run({ title: "Built" })).text.split("\n")[0], "Plan: Built")
    assert.deepEqual((await run({ todos: [], replace: true })).data, { todos: [] })
  })
})

test("todo takes numbers for ids", async () => {
  await inProject(async () => {
    const todos: Json[] = [
      { id: 1, text: "One", status: "done" },
      { id: 2, text: "Two", status: "pending", after: [1] },
    ]
    assert.equal((await run({ todos })).text, "[x] 1: One\n[ ] 2: Two (after 1)")
    assert.equal((await run({ todos: [{ id: "2", text: "Two", status: "done" }] })).title, "2 of 2 done")
  })
})

test("todo refuses items that wait for each other, for themselves, or for a missing item", async () => {
  await inProject(async () => {
    await run({ todos: [step("a"), step("b", ["a"])] })
    const round = await run({ todos: [step("a", ["b"])] })
    assert.equal(round.status, "error")
    assert.match(round.text, /Items wait for each other: a → b → a\. Take one out of an `after`\./)
    assert.match((await run({ todos: [step("c", ["c"])] })).text, /c → c/)
    const unnamed = [
      { text: "One", status: "pending", after: ["Two"] },
      { text: "Two", status: "pending", after: ["One"] },
    ]
    assert.match((await run({ todos: unnamed })).text, /"One" → "Two" → "One"/)
    const lost = await run({ todos: [step("c", ["nowhere"])] })
    assert.match(lost.text, /"Do c" is to come after "nowhere", .* Ids: a, b, c\./)
    assert.deepEqual(await TodoList.get("ses_1"), [step("a"), step("b", ["a"])])
  })
})

test("invalid stored relations do not hide valid ones", async () => {
  await inProject(async () => {
    await run({ todos: [step("a"), step("b", ["a"])] })
    await Storage.update<{ nodes: unknown[] }>(["relation", "ses_1"], (draft) => {
      draft.nodes.push(7, { id: "x" }, draft.nodes[1])
    })
    assert.deepEqual(await TodoList.get("ses_1"), [step("a"), step("b", ["a"])])
    assert.equal((await run({ todos: [step("a", undefined, "done")] })).status, "success")
    assert.equal(((await Storage.read(["relation", "ses_1"])) as { nodes: unknown[] }).nodes.length, 3)
    await Storage.write(["relation", "ses_1"], { nodes: "gone" })
    assert.deepEqual(await TodoList.get("ses_1"), [])
  })
})
