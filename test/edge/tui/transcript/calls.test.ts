// What a conversation shows of the calls of tools and their results.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createConversation } from "./conversation.ts"

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
