// The todo tool through the gate: the list of a session, its event, its limits.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as TodoList from "#ability/plan/todo-list.ts"
import { todo } from "#ability/tool/builtin/todo.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type { RelationNode } from "#knowledge/relation/relation-node.ts"
import { call, free, inProject } from "../harness.ts"

type Item = TodoList.Item
const run = (args: { todos?: Item[]; replace?: boolean; title?: string }, sessionId = "ses_1") =>
  call("todo", args, { slots: free, sessionId })
const kindsOf = (record: unknown) =>
  (record as { nodes: RelationNode[] }).nodes.map(
    ({ edgeType, context }) => `${edgeType} ${context.description}`,
  )
const item = (text: string, status: Item["status"] = "pending"): Item => ({ text, status })

test("todo shows, merges by text, appends in order, and replaces", async () => {
  await inProject(async () => {
    assert.equal((await run({})).text, "(nothing to do)")
    const made = await run({ todos: [item("Write code"), item("Run tests"), item(" Ship it ")] })
    assert.equal(made.text, "[ ] Write code\n[ ] Run tests\n[ ] Ship it")
    const merged = await run({
      todos: [item("run  TESTS", "in_progress"), item("write code", "done"), item("Celebrate")],
    })
    assert.equal(merged.text, "[x] Write code\n[>] Run tests\n[ ] Ship it\n[ ] Celebrate")
    assert.equal(merged.title, "1 of 4 done")
    assert.deepEqual(merged.data, {
      todos: [
        item("Write code", "done"),
        item("Run tests", "in_progress"),
        item("Ship it"),
        item("Celebrate"),
      ],
    })
    assert.equal((await run({})).text, merged.text)
    assert.equal((await run({ todos: [item("New"), item("new", "done")], replace: true })).text, "[x] New")
    assert.equal((await run({ todos: [], replace: true })).text, "(nothing to do)")
  })
})

test("todo stores one list per session, and TodoList.remove() deletes it", async () => {
  await inProject(async () => {
    await run({ todos: [item("one")] }, "ses_1")
    await run({ todos: [item("two")] }, "ses_2")
    assert.deepEqual(kindsOf(await Storage.read(["relation", "ses_1"])), ["plan Tasks", "step one"])
    await TodoList.remove("ses_1")
    assert.deepEqual(await Storage.list(["relation"]), ["ses_2"])
    assert.deepEqual(await TodoList.get("ses_1"), [])
    assert.deepEqual(await TodoList.get("ses_2"), [item("two")])
  })
})

test("todo publishes todo.updated after a write, and nothing for reading the list", async () => {
  await inProject(async () => {
    const events: unknown[] = []
    const stored: Promise<unknown>[] = []
    Bus.subscribe(TodoList.Updated, (payload, event) => {
      events.push([event.type, payload])
      stored.push(Storage.read(["relation", "ses_1"]))
    })
    await run({})
    await run({ todos: [] })
    await run({ todos: [item("one", "done")] })
    assert.deepEqual(events, [["todo.updated", { sessionId: "ses_1", todos: [item("one", "done")] }]])
    assert.deepEqual((await Promise.all(stored)).map(kindsOf), [["plan Tasks", "step one"]])
  })
})

test("todo calls at the same time lose nothing", async () => {
  await inProject(async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => run({ todos: [item(`item ${i}`)] })))
    assert.equal((await TodoList.get("ses_1")).length, 20)
  })
})

test("todo refuses bad texts, unknown fields, more than 200 items, and leaves the list as it was", async () => {
  await inProject(async () => {
    await run({ todos: Array.from({ length: 199 }, (_, i) => item(`item ${i}`)) })
    for (const text of ["", "   ", "x".repeat(2001), "a\nb", "bell \u0007", "\u009b31m"]) {
      const result = await run({ todos: [item(text)] })
      assert.match(result.text, /todos\.0\.text: expected 1 to 2000 characters/, JSON.stringify(text))
    }
    assert.match((await run({ todos: [{ text: "a", status: "open" as "done" }] })).text, /todos\.0\.status/)
    assert.match((await run({ todos: [{ ...item("a"), no: 1 } as Item] })).text, /"no" is not a parameter/)
    for (const id of ["", "a b", "#1", "plan:1", "x".repeat(41)])
      assert.match((await run({ todos: [{ ...item("a"), id }] })).text, /todos\.0\.id: expected up to 40/, id)
    assert.match((await run({ replace: true })).text, /todos: missing, expected the new list/)
    const full = await run({ todos: [item("item 198", "done"), item("x".repeat(2000)), item("one more")] })
    assert.match(full.text, /at most 200 items, this one would have 201/)
    assert.equal((await TodoList.get("ses_1")).length, 199)
    assert.equal((await TodoList.get("ses_1"))[198]!.status, "pending")
    assert.equal((await run({ todos: [item("x".repeat(2000))] })).status, "success")
  })
})

test("todo needs the permission todo for everything", () => {
  assert.deepEqual(todo.permission(), [{ permission: "todo", target: "*" }])
  assert.equal(todo.readOnly, false)
})

test('todo accepts "completed" for "done", and stores "done"', async () => {
  await inProject(async () => {
    const todos = ["done", "completed", "complete"].map((status, i) => ({ text: `Step ${i}`, status }))
    const { text, data } = await call("todo", { todos }, { slots: free, sessionId: "ses_1" })
    assert.equal(text, "[x] Step 0\n[x] Step 1\n[x] Step 2")
    assert.deepEqual(
      (data as TodoList.Plan).todos.map(({ status }) => status),
      ["done", "done", "done"],
    )
  })
})
