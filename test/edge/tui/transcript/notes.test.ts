// What a conversation shows beside prompts, answers and calls: the plan, retries, what was undone, notices.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createConversation } from "./conversation.ts"

test("a retry that is reported before the prompt is shown below it", () => {
  const { printed, say, answer, send } = createConversation()
  const retry = { provider: "p", reason: "529 busy", wait: 1_000, attempt: 2, attempts: 5 }
  const shown = "! p: 529 busy; attempt 2 of 5 in 1 s"
  say("user", "one")
  answer("First.").end()
  send("session.idle", {})
  send("session.retry", retry)
  say("user", "two")
  send("session.retry", retry)
  assert.deepEqual(printed, ["▌ one", "", "First.", "", "▌ two", "", shown, shown])
})

test("a retry of a prompt that never comes is shown when the turn ends", () => {
  const { printed, send } = createConversation()
  send("session.retry", { provider: "p", reason: "529", wait: 1_000, attempt: 2, attempts: 5 })
  send("session.error", { error: { name: "Provider.Failed", message: "no answer" } })
  assert.deepEqual(printed, ["! p: 529; attempt 2 of 5 in 1 s", "✗ no answer"])
})

test("what is undone and redone is named by its prompt", () => {
  const { printed, say, message, store } = createConversation()
  say("user", "write two")
  const revert = (to: string) => message("system_control", { control: "revert", parameters: { to } })
  const undo = revert("m1")
  store(undo)
  const redo = revert(undo.id)
  store(redo)
  store(revert(redo.id))
  store(revert("msg_of_another_time"))
  assert.deepEqual(printed.slice(2), [
    "· undone: write two",
    "· redone: write two",
    "· undone: write two",
    "· undone: an earlier prompt",
  ])
})

test("the plan is in the tail while the agent works, and printed once at the end", () => {
  const { printed, say, send, tail } = createConversation()
  say("user", "a")
  const todos = (...done: string[]) =>
    [..."bcd"].map((text) => ({ text, status: done.includes(text) ? "done" : "pending" }))
  send("todo.updated", { todos: todos() })
  send("todo.updated", {
    todos: [
      { text: "b", status: "done" },
      { text: "c", status: "in_progress" },
      { text: "d", status: "pending" },
    ],
  })
  assert.deepEqual(tail(), ["☑ b", "▶ c", "☐ d"])
  send("session.idle", {})
  assert.deepEqual(printed.slice(2), ["☑ b", "▶ c", "☐ d"])
  assert.deepEqual(tail(), [])
})

test("a long plan takes a third of the rows, around what is not done", () => {
  const { send, tail } = createConversation()
  const todos = Array.from({ length: 30 }, (_, i) => ({ text: `t${i}`, status: i < 10 ? "done" : "pending" }))
  send("todo.updated", { todos })
  assert.deepEqual(tail(12), ["☑ t9", "☐ t10", "☐ t11", "  10 of 30 done"])
})

test("retries, notices, the chosen model, attachments, controls and errors are notes", () => {
  const { printed, say, send, store, message } = createConversation({ columns: 200 })
  say("user", "a")
  send("model.chosen", { model: "m", text: "m answers" })
  send("session.retry", { provider: "p", reason: "529 busy", wait: 3_500, attempt: 2, attempts: 5 })
  send("session.notice", { text: "take care\n\nof it" })
  send("guard.blocked", { action: "answer", guard: "tests", reason: "no tests." })
  send("guard.blocked", { action: "edit", guard: "read", reason: "not read." })
  store(
    message("system_control", {
      control: "compaction",
      parameters: { tokensBefore: 9, tokensAfter: 1, by: "cut" },
    }),
  )
  const file = message("file_reference", { path: "a.ts", status: "pending" })
  store(file)
  send("message.updated", { message: { ...file, data: { path: "a.ts", status: "resolved" } } })
  store(message("image", { source: { kind: "file", value: "a.png" }, state: "failed", error: "too large" }))
  const metadata = { width: 640, height: 480, bytes: 11_001 }
  store(
    message("image", {
      source: { kind: "file", value: "b.png" },
      state: "done",
      usedMode: "vision",
      metadata,
    }),
  )
  send("session.error", { error: { name: "Provider.MissingKey", message: "no key" } })
  assert.deepEqual(printed.slice(2), [
    "· m answers",
    "! p: 529 busy; attempt 2 of 5 in 4 s",
    "! take care",
    "  of it",
    '! guard "tests" held back the answer: no tests.',
    '! guard "read" blocked edit: not read.',
    "· compacted: about 9 tokens became 1 (long results shortened)",
    "· attached a.ts",
    "✗ a.png could not be attached: too large",
    "· [image b.png 640×480, 12 KB]",
    "✗ no key",
  ])
})
