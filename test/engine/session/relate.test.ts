// All relations of a session: plan, steps, files, tasks, also after fork, export and revert.
import assert from "node:assert/strict"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Session from "#engine/session/session.ts"
import { promptWith } from "#engine/turn/prompt.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { call, calls, type Request, text } from "../../fixture/fake-llm.ts"
import { hasty, inWorld } from "./harness.ts"
import { inPatientWorld } from "./patient.ts"

const step = (id: string, status: TodoList.Item["status"], after?: string[]): TodoList.Item => ({
  id,
  text: `Do ${id}`,
  status,
  ...(after ? { after } : {}),
})
const written = (path: string) => call("write", { path, content: path })
const edgesOf = ({ nodes }: Session.Plan) => nodes.map(({ id, parents }) => [id, ...parents].join(" < "))
const kindsOf = ({ nodes }: Session.Plan) =>
  nodes.map(({ edgeType, context: { status } }) => `${edgeType} ${status}`)

test("Session.plan() has files and sessions of tasks below the steps that were in progress", async () => {
  const script = (request: Request) => {
    if (/You do one task/.test(request.system)) {
      const isOver = request.messages.some(({ results }) => results.length)
      return isOver || !/dig/.test(request.raw) ? text("found") : call("subtask", { task: "look deeper" })
    }
    return turns.shift()!
  }
  const turns = [
    written("zero.txt"),
    call("todo", { title: "Build", todos: [step("a", "in_progress"), step("b", "pending", ["a"])] }),
    calls([written("one.txt"), call("bash", { command: "echo x > two.txt; echo y > zero.txt" })]),
    call("subtask", { task: "dig for it" }),
    call("todo", { todos: [step("a", "done"), step("b", "in_progress")] }),
    calls([written("one.txt"), call("edit", { path: "none.txt", edits: [{ oldText: "x", newText: "y" }] })]),
    text("done"),
  ]
  await inPatientWorld(
    script,
    async ({ session, ask }) => {
      await ask("go", { asks: "once" })
      const plan = await Session.plan(session.id)
      const root = `agent:${session.id}`
      const tasks = plan.nodes.filter(({ edgeType, id }) => edgeType === "agent" && id !== root)
      assert.equal(tasks.length, 2)
      const [task, deeper] = tasks.map(({ id }) => id)
      const edges = edgesOf(plan)
      assert.deepEqual(edges.slice(0, 4), ["plan:1", "a < plan:1", "b < plan:1 < a", root])
      assert.deepEqual(
        edges.slice(4).sort(),
        [
          "file:one.txt < a < b",
          "file:two.txt < a",
          "file:zero.txt < a",
          `${task} < a < ${root}`,
          `${deeper} < ${task}`,
        ].sort(),
      )
      assert.deepEqual(kindsOf(plan).slice(0, 4), [
        "plan in_progress",
        "step done",
        "step in_progress",
        "agent undefined",
      ])
      assert.deepEqual(
        tasks.map(({ context }) => context.status),
        ["done", "done"],
      )
    },
    { git: true },
  )
})

test("Session.plan() returns files and tasks without a plan, and throws for an unknown session", async () => {
  await inWorld([written("a.txt"), text("done")], async ({ session, ask }) => {
    await ask("go", { asks: "once" })
    const root = `agent:${session.id}`
    assert.deepEqual(edgesOf(await Session.plan(session.id)), [root, `file:a.txt < ${root}`])
    await assert.rejects(Session.plan("sess_none"), { name: "Session.NotFound" })
  })
})

test("a fork has the plan of its source at the last copied message", async () => {
  const script = [
    call("todo", { title: "Build", todos: [step("a", "in_progress"), step("b", "pending", ["a"])] }),
    text("planned"),
    call("todo", { todos: [step("a", "done")] }),
    text("half"),
    call("todo", { todos: [step("b", "done")] }),
    text("forked"),
  ]
  await inPatientWorld(script, async ({ session, ask }) => {
    const first = await ask("plan")
    await ask("go on")
    const whole = await Session.fork(session.id)
    const early = await Session.fork(session.id, first.id)
    assert.deepEqual(await TodoList.nodes(whole.id), await TodoList.nodes(session.id))
    assert.deepEqual(await TodoList.plan(early.id), {
      title: "Build",
      todos: [step("a", "in_progress"), step("b", "pending", ["a"])],
    })
    await promptWith({ sessionId: whole.id, text: "finish" }, hasty)
    assert.deepEqual(await TodoList.get(whole.id), [step("a", "done"), step("b", "done", ["a"])])
    assert.deepEqual(await TodoList.get(session.id), [step("a", "done"), step("b", "pending", ["a"])])
  })
})

test("an export includes the plan, and an import restores it or refuses an invalid one", async () => {
  const script = [
    call("todo", { todos: [step("a", "in_progress"), step("b", "pending", ["a"])] }),
    text("ok"),
  ]
  await inWorld(script, async ({ session, ask }) => {
    await ask("plan")
    const exported = JSON.parse(JSON.stringify(await Session.export(session.id)))
    const nodes = await TodoList.nodes(session.id)
    await Session.remove(session.id)
    assert.deepEqual(await Storage.list(["relation"]), [])
    const { id } = await Session.import(exported)
    assert.deepEqual(await TodoList.nodes(id), nodes)
    const bad: [relations: unknown, reason: RegExp][] = [
      ["x", /relations/],
      [[{ ...nodes[1], parents: ["a"] }], /its own ancestor/],
      [[...nodes, { ...nodes[1], id: "x:y" }], /expected up to 40 letters/],
      [[...nodes, { ...nodes[1], id: "c", context: { description: "\u001b[31m" } }], /control character/],
      [[...nodes, { ...nodes[1], id: "c", edgeType: "file" }], /not one plan with its steps/],
      [[...nodes, { ...nodes[1], id: "c", parents: [] }], /not one plan with its steps/],
      [[...nodes, { ...nodes[1], id: "#99999999999999999999" }], /expected up to 40 letters/],
      [Array.from({ length: 5_000 }, (_, i) => ({ ...nodes[1], id: `s${i}` })), /at most 200 items/],
    ]
    for (const [relations, reason] of bad)
      await assert.rejects(Session.import({ ...exported, relations }), (error: Error) => {
        assert.equal(error.name, "Session.InvalidImport")
        assert.match(error.message, reason)
        return true
      })
    assert.deepEqual(await Storage.list(["relation"]), [id])
    const { relations: _, ...old } = exported
    const again = await Session.import(old)
    // Exports of earlier versions have the plan only in the messages.
    assert.equal((await Session.plan(again.id)).nodes.length, 4)
  })
})

test("an invalid plan in imported messages does not affect the rest of the session", async () => {
  await inWorld([call("todo", { todos: [step("a", "pending")] }), text("ok")], async ({ session, ask }) => {
    await ask("plan")
    const { relations: _, ...exported } = JSON.parse(JSON.stringify(await Session.export(session.id)))
    const shown = exported.messages.find(({ type }: { type: string }) => type === "tool_result")
    shown.data.metadata.data = { todos: [step("a", "pending", ["b"]), step("b", "pending", ["a"])] }
    const { id } = await Session.import(exported)
    assert.deepEqual(edgesOf(await Session.plan(id)), [`agent:${id}`])
    await Session.fork(id)
  })
})

test("a plan whose record is broken is read from the last message that shows it", async () => {
  await inWorld([call("todo", { todos: [step("a", "pending")] }), text("ok")], async ({ session, ask }) => {
    await ask("plan")
    const root = join(Global.data(), "storage")
    const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    const file = files.find((path) => /relation.*\.json$/.test(path) && path.includes(session.id))
    writeFileSync(join(root, file!), '{"nodes":[')
    assert.deepEqual(edgesOf(await Session.plan(session.id)), ["plan:1", "a < plan:1", `agent:${session.id}`])
    await Session.export(session.id)
  })
})

test("files are below the steps of the call that changed them, even if a model reuses a call id", async () => {
  const script = [
    call("todo", { todos: [step("a", "in_progress"), step("b", "pending")] }),
    written("one.txt"),
    call("todo", { todos: [step("a", "done"), step("b", "in_progress")] }),
    written("two.txt"),
    text("done"),
  ]
  await inPatientWorld(script, async ({ session, ask }) => {
    await ask("go", { asks: "once" })
    const exported = JSON.parse(JSON.stringify(await Session.export(session.id)))
    for (const { data } of exported.messages) {
      for (const made of data.calls ?? []) if (made.name === "write") made.id = "call_1"
      if (data.toolName === "write") data.requestId = "call_1"
    }
    const { id } = await Session.import(exported)
    const files = edgesOf(await Session.plan(id)).filter((edge) => edge.startsWith("file:"))
    assert.deepEqual(files, ["file:one.txt < a", "file:two.txt < b"])
  })
})

test("Session.revert() restores the earlier plan, undoing it restores the later one, and each branch has its own plan", async () => {
  const plan = (status: TodoList.Item["status"]) => call("todo", { todos: [step("a", status)] })
  const script = [plan("pending"), text("1"), plan("in_progress"), text("2"), plan("done"), text("3")]
  await inWorld(script, async ({ session, ask, messages }) => {
    const status = async () => (await TodoList.get(session.id)).map(({ status }) => status).join()
    await ask("begin")
    const first = (await messages()).at(-1)!
    await ask("go on")
    const { id: asked } = (await messages()).find(({ parentId }) => parentId === first.id)!
    assert.equal(await status(), "in_progress")
    const { messageId } = await Session.revert(session.id, asked)
    assert.equal(await status(), "pending")
    await Session.revert(session.id, messageId!)
    assert.equal(await status(), "in_progress")
    await Session.branch(session.id, "other", { from: first.id })
    assert.equal(await status(), "pending")
    await ask("another way")
    assert.equal(await status(), "done")
    await Session.switchBranch(session.id, "main")
    assert.equal(await status(), "in_progress")
    const start = (await messages())[0]!
    await Session.revert(session.id, start.id)
    assert.equal(await status(), "")
  })
})
