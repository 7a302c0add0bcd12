// Prompts that can be sent, and what is wrong with those that cannot.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"

type Prompt = Message.ModelMessage[]
const asks = (...ids: string[]): Message.ModelMessage => ({
  role: "assistant",
  content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "read", input: {} })),
})
const answers = (...ids: string[]): Message.ModelMessage => ({
  role: "tool",
  content: ids.map((toolCallId) => ({
    type: "tool-result",
    toolCallId,
    toolName: "read",
    output: { type: "text", value: "x" },
  })),
})
const person: Message.ModelMessage = { role: "user", content: [{ type: "text", text: "q" }] }
const prompts: [what: string, prompt: Prompt, paths: string[]][] = [
  ["an empty prompt", [], []],
  ["calls and results", [person, asks("1", "2"), answers("2", "1"), person], []],
  ["results in two messages", [asks("1", "2"), answers("1"), answers("2")], []],
  ["a call at the end", [person, asks("1")], ["1.content.0"]],
  ["a call answered too late", [asks("1"), person, answers("1")], ["0.content.0", "2.content.0"]],
  ["half an answer", [asks("1", "2"), answers("1"), person], ["0.content.1"]],
  ["two results", [asks("1"), answers("1", "1")], ["1.content.1"]],
  ["a result alone", [person, answers("1")], ["1.content.0"]],
  ["an id twice", [asks("1"), answers("1"), asks("1"), answers("1")], ["2.content.0"]],
]
for (const [what, prompt, paths] of prompts)
  test(`Message.checkPairing() ${paths.length ? "names" : "passes"} ${what}`, () => {
    const checked = Message.checkPairing(prompt)
    assert.deepEqual(checked.ok ? [] : checked.problems.map(({ path }) => path), paths)
    assert.equal(checked.ok, paths.length === 0)
  })
