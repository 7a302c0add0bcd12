// The work of a subtask is shown in the call that started it.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { toolCallOf } from "#edge/acp/update/updates.ts"
import * as Session from "#engine/session/session.ts"
import { byAgent, reject } from "../../../engine/orchestrator/harness.ts"
import { next } from "../../../engine/session/needy.ts"
import { call, calls, type Reply, type Request, stall, text } from "../../../fixture/fake-llm.ts"
import { until } from "../../../fixture/until.ts"
import { textIn } from "../editor.ts"
import { all, inFollowed } from "../followed.ts"

const allowed = { rules: [Permission.parseRule("agent.delegate:*")] }
const taskIn = ({ messages }: Request) => messages[0]?.text ?? ""
const hasResults = ({ messages }: Request) => messages.some(({ results }) => results.length)

test("the call of a subtask shows its steps and those of its own subtasks, and at the end its answer", async () => {
  const script = (request: Request): Reply => {
    if (hasResults(request)) return text(`The answer of ${taskIn(request)}.`)
    if (taskIn(request) === "the person") return call("subtask", { task: "outer" })
    if (taskIn(request) === "outer")
      return calls([call("read", { path: "a.txt" }), call("subtask", { task: "inner" })])
    return call("read", { path: "missing.txt" })
  }
  await inFollowed(script, async ({ tmp, ask, editor }) => {
    tmp.write("a.txt", "a\n")
    await ask("the person", allowed)
    const called = editor.calls()
    assert.equal(called.length, 1)
    assert.equal(textIn(called[0]!), "The answer of outer.")
    assert.deepEqual(
      editor.texts("agent"),
      ["The answer of the person."],
      "answers of subtasks are not shown",
    )
    const reports = editor
      .of("tool_call_update")
      .filter(({ status, content }) => status === "in_progress" && content)
    assert.equal(
      textIn(reports.at(-1)!),
      "- Read `a.txt`\n- Task `inner`\n  - Read `missing.txt`\n  - Read `missing.txt`: error",
    )
  })
})

test("parallel tasks are reported in their own calls", async () => {
  const script = (request: Request): Reply => {
    if (hasResults(request)) return text(`done ${taskIn(request)}`)
    if (taskIn(request) === "go") return calls(["a", "b", "c"].map((task) => call("subtask", { task })))
    return call("read", { path: `${taskIn(request)}.txt` })
  }
  await inFollowed(script, async ({ tmp, ask, editor }) => {
    for (const name of ["a", "b", "c"]) tmp.write(`${name}.txt`, name)
    await ask("go", allowed)
    for (const [i, name] of ["a", "b", "c"].entries()) {
      const { toolCallId } = editor.calls()[i]!
      const own = editor.of("tool_call_update").filter((update) => update.toolCallId === toolCallId)
      assert.deepEqual(own.map(textIn).filter(Boolean), [`- Read \`${name}.txt\``, `done ${name}`])
    }
  })
})

test("a call of a task that needs a permission is reported as a call, and closed after the reply", async () => {
  const script = (request: Request): Reply => {
    if (hasResults(request)) return text("done")
    if (taskIn(request) === "go") return call("subtask", { task: "write it" })
    return call("write", { path: "a.txt", content: "words\n" })
  }
  await inFollowed(script, async ({ ask, editor, session }) => {
    const work = ask("go", allowed)
    const [request] = await next()
    assert.notEqual(request!.sessionId, session.id)
    const shown = await toolCallOf(request!)
    const [task, write] = editor.calls()
    assert.deepEqual([write!.toolCallId, write!.status], [shown.toolCallId, "pending"])
    assert.equal(task!.status, "in_progress")
    assert.match(textIn(shown), /^```\n\w+, on a task: write it\n```/)
    await Permission.reply(request!.id, "once")
    await work
    assert.deepEqual(
      editor.calls().map(({ statuses }) => statuses.join(" ")),
      ["pending in_progress completed", "pending in_progress completed"],
    )
  })
})

test("an interrupted task leaves no call open, and tasks of other sessions are not reported", async () => {
  const script = (request: Request): Reply => {
    if (taskIn(request) === "go") return call("subtask", { task: "wait" })
    if (taskIn(request) === "wait") return call("bash", { command: "sleep 60" })
    return stall(text("nothing"), 10)
  }
  await inFollowed(script, async ({ ask, editor, session }) => {
    const other = await Session.create({ taskOf: { sessionId: "sess_other", callId: "call_1_0" } })
    const work = ask("go", allowed)
    const [request] = await next()
    await until(() => editor.calls().length === 2, "both calls")
    assert.ok(request)
    Session.abort(session.id)
    await assert.rejects(work)
    assert.deepEqual(
      editor.calls().map(({ status }) => status),
      ["failed", "failed"],
    )
    assert.ok(!JSON.stringify(editor.updates).includes(other.id))
  })
})

test("an editor is told of a rejected task, and which agent was chosen", async () => {
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn ? text("Done.") : call("delegate", { agent: "navigator", task: "Read greeting.txt" }),
    navigator: () => text(reject("operator")),
    operator: () => text("It says hello."),
    chronicler: () => text("Noted."),
  })
  await inFollowed(
    script,
    async ({ ask, editor }) => {
      await ask("what does it say?", { agent: "orchestrator" })
      await ask("remember that we release on Fridays", { agent: "auto" })
      const [rejected, chosen] = editor.of("notice").map(({ title }) => title)
      assert.equal(rejected, "navigator rejected the task; it goes to operator")
      assert.match(chosen!, /^agent chronicler: it says "remember that"/)
      const [started] = editor.of("tool_call")
      assert.equal(started!.title, "Delegate `navigator: Read greeting.txt`")
    },
    { client: all },
  )
})
