// What a conversation shows of prompts and answers. Calls, and the plan and notes, have files of their own.
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
