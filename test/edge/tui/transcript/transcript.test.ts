import assert from "node:assert/strict"
import { test } from "node:test"
import { createConversation } from "./conversation.ts"

test("a prompt, an answer and a call appear in order, with a blank line between them", () => {
  const { printed, say, answer, call, result, send, tail } = createConversation()
  say("user", "where is\nthe port?")
  answer("In **con", "fig**.\n").end()
  call({ id: "c1", name: "read", arguments: { path: "src/a.ts" } })
  assert.deepEqual(tail(), ["", "○ Read src/a.ts"])
  send("tool.started", { callId: "c1" })
  assert.deepEqual(tail(), ["", "● Read src/a.ts"])
  result("c1", { toolName: "read", output: "text", metadata: { title: "src/a.ts:1-9" }, duration: 4_200 })
  assert.deepEqual(tail(), [])
  answer("Done.").end()
  send("session.idle", {})
  assert.deepEqual(printed, [
    "▌ where is",
    "▌ the port?",
    "",
    "In config.",
    "",
    "✓ Read src/a.ts:1-9  4 s",
    "",
    "Done.",
  ])
})

test("the open block of an answer is in the tail, finished ones are printed", () => {
  const { printed, say, answer, tail } = createConversation()
  say("user", "a")
  answer("one\n\ntw")
  assert.deepEqual(printed, ["▌ a", "", "one"])
  assert.deepEqual(tail(), ["", "tw"])
})

test("deltas whose parent is not announced yet wait for it", () => {
  const { printed, say, message, store, answer, tail } = createConversation()
  say("user", "a")
  const note = message("system_control", { control: "mode_change", parameters: { from: "act", to: "plan" } })
  const { end } = answer("b\n")
  assert.deepEqual(tail(), [])
  store(note)
  end()
  assert.deepEqual(printed, ["▌ a", "", "· mode: act → plan", "", "b"])
})

test("an answer that broke off is reported, and the next try is shown", () => {
  const { printed, say, answer, send } = createConversation()
  say("user", "a")
  const { stored, end } = answer("half of")
  const { parts } = stored.data
  send("message.updated", { message: { ...stored, data: { role: "assistant", parts: [] } } })
  stored.data.parts = parts
  send("message.delta", { messageId: stored.id, parentId: stored.parentId, kind: "text", text: "half of it" })
  stored.data.parts = [{ type: "text", text: "half of it" }]
  end()
  const note = "✗ the answer broke off and is requested again"
  assert.deepEqual(printed.slice(2), ["half of", "", note, "", "half of it"])
})

test("after a broken connection, the stored message completes an answer", () => {
  const { printed, say, answer, send, tail, transcript } = createConversation()
  say("user", "a")
  const { stored, end } = answer("one ")
  const { id: messageId, parentId } = stored
  const sendPart = (text: string) => send("message.delta", { messageId, parentId, kind: "text", text })
  const keep = (text: string, finish?: "stop") => {
    stored.data = { role: "assistant", parts: [{ type: "text", text }], ...(finish ? { finish } : {}) }
  }
  keep("one ")
  send("message.created", { message: structuredClone(stored) })
  transcript.apply({ type: "disconnected", error: new Error("gone"), retryIn: 1 } as never)
  sendPart("three ")
  keep("one two ")
  send("message.updated", { message: structuredClone(stored) })
  sendPart("four")
  assert.deepEqual(tail(), ["", "one two "])
  keep("one two three four", "stop")
  end()
  assert.deepEqual(printed.slice(2), ["one two three four"])
})

test("events that come twice are shown once", () => {
  const { printed, say, answer, send } = createConversation()
  say("user", "a")
  const { stored, end } = answer("b")
  end()
  send("message.updated", { message: stored })
  send("message.created", { message: stored })
  assert.deepEqual(printed, ["▌ a", "", "b"])
})

test("reasoning is one line, and can be shown in full", () => {
  const { printed, say, answer, tail, transcript } = createConversation()
  say("user", "a")
  const { end } = answer({ reasoning: "first\nsec", time: 1_000 }, { reasoning: "ond", time: 5_000 })
  assert.deepEqual(tail(), ["", "∴ thinking: second"])
  end()
  assert.deepEqual(printed.slice(2), ["∴ thought for 4 s (ctrl+o)"])
  assert.deepEqual(transcript.expand(), ["thought for 4 s", "  first", "  second"])
})

test("long output is folded, and can be shown in full; called again, the text before it", () => {
  const { printed, say, call, result, transcript } = createConversation({ columns: 30 })
  say("user", "a")
  const output = Array.from({ length: 10_000 }, (_, i) => `\u001b[32mline ${i}\u001b[0m`).join("\n")
  call({ id: "c", name: "bash", arguments: { command: "seq" } })
  result("c", { toolName: "bash", output, metadata: { title: "seq (exit 0)" } })
  assert.deepEqual(printed.slice(2), [
    "✓ Run seq (exit 0)",
    "  line 0",
    "  line 1",
    "  … 9995 more lines (ctrl+o)",
    "  line 9997",
    "  line 9998",
    "  line 9999",
  ])
  call({ id: "d", name: "read", arguments: { path: "b" } })
  result("d", { toolName: "read", output: "whole file", metadata: { title: "b" } })
  assert.deepEqual(transcript.expand(), ["Read b", "  whole file"])
  assert.equal(transcript.expand().length, 10_001)
  assert.deepEqual(transcript.expand(), [])
})

test("a running command shows the last line that it printed; overwritten lines count once", () => {
  const { printed, say, call, result, send, tail } = createConversation()
  say("user", "a")
  call({ id: "c", name: "bash", arguments: { command: "make" } })
  send("tool.started", { callId: "c" })
  send("tool.progress", { callId: "c", text: "one\n10%\r\u001b[32m20%\u001b[0m\n" })
  assert.deepEqual(tail(), ["", "● Run make  20%"])
  result("c", { toolName: "bash", output: "one\n10%\r20%\r100%\n", metadata: { title: "make" } })
  assert.deepEqual(printed.slice(2), ["✓ Run make", "  one", "  100%"])
})

test("a failed call shows why, and an interrupted one that it was", () => {
  const { printed, say, call, result, send } = createConversation()
  say("user", "a")
  call(
    { id: "c", name: "edit", arguments: { path: "a.ts" } },
    { id: "d", name: "server_tool", arguments: { x: 1, y: "z" } },
  )
  result("c", { toolName: "edit", status: "error", error: { message: "no such\ntext", recoverable: true } })
  send("session.error", { error: { name: "Session.Interrupted", message: "…" } })
  assert.deepEqual(printed.slice(2), [
    "✗ Edit a.ts: no such (ctrl+o)",
    "✗ server_tool 1 z: stopped",
    "· stopped",
  ])
})

test("a call that was stopped is printed once, also if its result is stored later", () => {
  const { printed, say, call, result, send } = createConversation()
  say("user", "a")
  call({ id: "c", name: "bash", arguments: { command: "make" } })
  send("session.error", { error: { name: "Session.Interrupted", message: "…" } })
  result("c", { toolName: "bash", status: "interrupted", output: "half", metadata: { title: "make" } })
  say("user", "b")
  assert.deepEqual(printed.slice(2), ["✗ Run make: stopped", "· stopped", "", "▌ b"])
})

test("of a failed edit the first sentence is shown, and the rest can be", () => {
  const { printed, say, call, result, transcript } = createConversation({ columns: 120 })
  say("user", "a")
  call({ id: "c", name: "edit", arguments: { path: "a.ts" } })
  const message = 'oldText was not found in "a.ts"; nothing was changed. Read the file to see what it has.'
  result("c", { toolName: "edit", status: "error", error: { message, recoverable: true } })
  const shown = '✗ Edit a.ts: the text to replace was not found in "a.ts"; nothing was changed. (ctrl+o)'
  assert.deepEqual(printed.slice(2), [shown])
  assert.deepEqual(transcript.expand(), ["Edit a.ts", `  ${message}`])
})

test("a call that the person rejected says so to the person", () => {
  const { printed, say, call, result } = createConversation()
  say("user", "a")
  for (const [id, end] of [
    ["c", "."],
    ["d", " and says: not now."],
  ] as const) {
    call({ id, name: "bash", arguments: { command: "make" } })
    const message = `"bash" was not run: the person rejected it${end}`
    result(id, { toolName: "bash", status: "error", error: { message, recoverable: true } })
  }
  assert.deepEqual(printed.slice(2), ["✗ Run make: you rejected it", "✗ Run make: you rejected it: not now."])
})

test("a command without output is one line", () => {
  const { printed, say, call, result, store, message } = createConversation()
  say("user", "a")
  call({ id: "c", name: "bash", arguments: { command: "true" } })
  result("c", { toolName: "bash", output: "(no output)", metadata: { title: "true" } })
  const output = [{ type: "text", text: "<output>\n(no output)\n</output>" }]
  store(message("text", { role: "user", parts: output, origin: { kind: "shell", name: "true" } }))
  assert.deepEqual(printed.slice(2), ["✓ Run true", "", "▌ ! true"])
})

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

test("a command that ended with an error is marked", () => {
  const { printed, say, call, result } = createConversation()
  say("user", "a")
  call({ id: "c", name: "bash", arguments: { command: "false" } })
  result("c", { toolName: "bash", output: "", metadata: { title: "false (exit 1)", data: { exitCode: 1 } } })
  assert.deepEqual(printed.slice(2), ["✗ Run false (exit 1)"])
})

test("an edit shows its change, a new file its lines", () => {
  const { printed, say, call, result } = createConversation()
  say("user", "a")
  call(
    { id: "c", name: "edit", arguments: { path: "a.ts" } },
    { id: "d", name: "write", arguments: { path: "b", content: "x\ny\n" } },
  )
  const diff = "@@ -9,3 +9,3 @@\n one\n-const a = 1\n+const a = 2\n two\n"
  result("c", { toolName: "edit", metadata: { title: "a.ts (+1 -1)", data: { diff } } })
  result("d", { toolName: "write", metadata: { title: "b", data: { created: true } } })
  assert.deepEqual(printed.slice(2), [
    "✓ Edit a.ts (+1 -1)",
    "   9   one",
    "  10 - const a = 1",
    "  10 + const a = 2",
    "  11   two",
    "✓ Write b",
    "  1 + x",
    "  2 + y",
  ])
})

test("parallel calls stay in order until the first is done", () => {
  const { printed, say, call, result, send, tail } = createConversation()
  say("user", "a")
  call(...["c", "d", "e"].map((id) => ({ id, name: "read", arguments: { path: id } })))
  for (const callId of ["c", "d", "e"]) send("tool.started", { callId })
  result("d", { toolName: "read", metadata: { title: "d" } })
  assert.deepEqual(tail(), ["", "● Read c", "✓ Read d", "● Read e"])
  result("c", { toolName: "read", metadata: { title: "c" } })
  assert.deepEqual(printed.slice(2), ["✓ Read c", "✓ Read d"])
  assert.deepEqual(tail(), ["● Read e"])
})

test("200 calls at once take a third of the rows", () => {
  const { say, call, result, tail, printed } = createConversation()
  say("user", "a")
  call(
    ...Array.from({ length: 200 }, (_, i) => ({ id: `c${i}`, name: "read", arguments: { path: `f${i}` } })),
  )
  result("c7", { toolName: "read", metadata: { title: "f7" } })
  const lines = tail(24)
  assert.deepEqual(lines.slice(0, 2), ["", "○ Read f0"])
  assert.equal(lines.length, 1 + 8)
  assert.equal(lines.at(-1), "  and 192 more running, 1 done")
  for (let i = 0; i < 200; i++)
    if (i !== 7) result(`c${i}`, { toolName: "read", metadata: { title: `f${i}` } })
  assert.equal(printed.length, 202)
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

test("a long prompt or output of ! that waits for a call is folded once", () => {
  const { say, call, result, store, message, tail, transcript } = createConversation()
  const lines = Array.from({ length: 50 }, (_, i) => `l${i}`).join("\n")
  say("user", `earlier\n${lines}`)
  call({ id: "c", name: "bash", arguments: { command: "wait" } })
  say("user", lines)
  const output = [{ type: "text", text: `<output>\n${lines}\n</output>` }]
  store(message("text", { role: "user", parts: output, origin: { kind: "shell", name: "seq" } }))
  for (let i = 0; i < 30; i++) tail()
  result("c", { toolName: "bash", output: "", metadata: { title: "wait" } })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => transcript.expand()[0]),
    ["seq", "l0", "earlier", undefined],
  )
})

test("a long prompt is folded", () => {
  const { printed, say, transcript } = createConversation()
  say("user", Array.from({ length: 50 }, (_, i) => `l${i}`).join("\n"))
  assert.equal(printed.length, 20)
  assert.equal(printed.at(-1), "  … 31 more lines (ctrl+o)")
  assert.equal(transcript.expand().length, 51)
})

test("load() shows the last messages of a session, and says that others came before", () => {
  const { transcript, message, printed, answer } = createConversation()
  const messages = Array.from({ length: 150 }, (_, i) => [
    message("text", { role: "user", parts: [{ type: "text", text: `q${i}` }] }),
    message("text", {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "x" },
        { type: "text", text: `a${i}` },
      ],
      finish: "stop",
    }),
  ]).flat()
  transcript.load(messages)
  const lines = transcript.take()
  assert.deepEqual(lines.slice(0, 7), [
    "… only the last 200 messages are shown; /export writes all",
    "",
    "▌ q50",
    "",
    "∴ thought (ctrl+o)",
    "",
    "a50",
  ])
  assert.equal(lines.at(-1), "a149")
  answer("next").end()
  assert.deepEqual(printed, ["", "next"])
  transcript.load([])
  assert.deepEqual(transcript.take(), [])
})
