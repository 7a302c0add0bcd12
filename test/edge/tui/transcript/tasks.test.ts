// What the transcript shows of tasks that other agents do, and of plans.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createConversation } from "./conversation.ts"

test("a task shows its agent, its last call and how many calls it made", () => {
  const { printed, say, call, result, send, tail, message } = createConversation()
  say("user", "a")
  call({ id: "c", name: "subtask", arguments: { task: "find the port" } })
  send("tool.started", { callId: "c" })
  send("session.created", {
    sessionId: "t",
    session: { id: "t", agent: "explore", taskOf: { sessionId: "s", callId: "c" } },
  })
  const calls = [{ id: "x", name: "grep", arguments: { pattern: "port" }, approval: "approved" }]
  const inner = { ...message("tool_request", { calls }), sessionId: "t" }
  send("message.created", { sessionId: "t", message: inner })
  send("message.delta", { sessionId: "t", messageId: "z", kind: "text", text: "hidden" })
  assert.deepEqual(tail(), ["", "● Task find the port", "  └ explore: 1 call · Search port"])
  result("c", {
    toolName: "subtask",
    output: "It is 3141.",
    metadata: { title: "explore: find the port" },
    parentId: "m2",
  })
  send("session.idle", { sessionId: "t" })
  send("session.idle", {})
  assert.deepEqual(printed.slice(2), ["✓ Task explore: find the port  1 call", "  It is 3141."])
})

test("tasks of one call have a line each while they work; rejections and retries are shown there", () => {
  const { printed, say, call, result, send, tail, message } = createConversation()
  say("user", "a")
  call({ id: "c", name: "delegate", arguments: { agent: "planner", task: "write it" } })
  const begin = (id: string, agent: string, more: object = {}) =>
    send("session.created", {
      sessionId: id,
      session: { id, agent, taskOf: { sessionId: "s", callId: "c", ...more } },
    })
  begin("p", "planner")
  assert.deepEqual(tail(), ["", "● Delegate planner: write it", "  └ thinking"])
  send("session.idle", { sessionId: "p" })
  begin("x", "navigator", { step: "1" })
  begin("y", "librarian", { step: "2" })
  const calls = [{ id: "g", name: "grep", arguments: { pattern: "port" }, approval: "approved" }]
  send("message.created", {
    sessionId: "y",
    message: { ...message("tool_request", { calls }), sessionId: "y" },
  })
  send("session.idle", { sessionId: "x" })
  send("session.notice", { callId: "c", text: "navigator rejected the task; it goes to operator" })
  begin("z", "operator", { step: "1" })
  send("session.retry", {
    sessionId: "z",
    provider: "p",
    reason: "It is busy.",
    wait: 900,
    attempt: 2,
    attempts: 3,
  })
  assert.deepEqual(tail().slice(2), [
    "  ├ navigator rejected the task; it goes to operator",
    "  ├ step 2, librarian: 1 call · Search port",
    "  └ step 1, operator: p: It is busy; attempt 2 of 3 in 1 s",
  ])
  result("c", { toolName: "delegate", output: "Done.", metadata: { title: "planner: write it" } })
  send("session.idle", {})
  assert.deepEqual(printed.slice(2), ["✓ Delegate planner: write it  1 call", "  Done."])
})

test("an agent that does not exist and the rest of a plan are told in words", () => {
  const { printed, say, call, result, send } = createConversation({ columns: 80 })
  say("user", "a")
  call(
    { id: "c", name: "delegate", arguments: { agent: "wizard", task: "x" } },
    { id: "d", name: "delegate", arguments: { resume: true } },
  )
  const message =
    'The arguments of "delegate" do not fit, so it was not run:\n- agent: Agent "wizard" does not exist. Available: a, b\nParameters: agent?: string'
  result("c", { toolName: "delegate", status: "error", error: { message } })
  result("d", { toolName: "delegate", status: "error", error: { message: "No." } })
  send("session.idle", {})
  assert.deepEqual(printed.slice(2), [
    '✗ Delegate wizard: x: Agent "wizard" does not exist. (ctrl+o)',
    "✗ Delegate the rest of the plan: No.",
  ])
})

test("an unfinished plan is shown when its session is opened", () => {
  const { transcript } = createConversation()
  const load = (status: "done" | "pending") => {
    transcript.load([], { isWorking: false, tasks: [], plan: [{ text: "b", status }] })
    return transcript.take()
  }
  assert.deepEqual(load("done"), [])
  assert.deepEqual(load("pending"), ["☐ b"])
})
