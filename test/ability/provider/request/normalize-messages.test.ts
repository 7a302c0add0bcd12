// A growing conversation is converted as if from scratch, but only its new messages are converted.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4Message } from "@ai-sdk/provider"
import {
  createIncrementalConverter,
  normalizeMessages,
} from "#ability/provider/request/normalize-messages.ts"
import { createRandom } from "../../../knowledge/message/fixture.ts"

type Message = LanguageModelV4Message
const open = (content: string): Message => ({ role: "system", content })
const frozen = (content: string): Message => Object.freeze(open(content))

function recording() {
  const added: string[] = []
  const convert = createIncrementalConverter((made: string[], message, form: { sign: string }) => {
    added.push(String(message.content))
    made.push(`${message.content}${form.sign}`)
  })
  return { added, convert }
}

test("createIncrementalConverter() converts only the new messages of a longer conversation", () => {
  const { added, convert } = recording()
  const messages = [frozen("a"), frozen("b")]
  assert.deepEqual(convert([open("s1"), ...messages], { sign: "!" }), ["s1!", "a!", "b!"])
  assert.deepEqual(convert([open("s2"), ...messages, frozen("c")], { sign: "!" }), ["s2!", "a!", "b!", "c!"])
  assert.deepEqual(added, ["s1", "a", "b", "s2", "c"])
})

test("createIncrementalConverter() starts over when a message or the format differs", () => {
  const { convert } = recording()
  const [a, b, c] = [frozen("a"), frozen("b"), frozen("c")]
  assert.deepEqual(convert([a, b, c], { sign: "!" }), ["a!", "b!", "c!"])
  assert.deepEqual(convert([a, c], { sign: "!" }), ["a!", "c!"])
  assert.deepEqual(convert([a], { sign: "!" }), ["a!"])
  assert.deepEqual(convert([a, b], { sign: "?" }), ["a?", "b?"])
  assert.deepEqual(convert([], { sign: "?" }), [])
})

test("createIncrementalConverter() converts a message that can change every time", () => {
  const { convert } = recording()
  const growing = open("x")
  const messages = [frozen("a"), growing, frozen("b")]
  assert.deepEqual(convert(messages, { sign: "" }), ["a", "x", "b"])
  Object.assign(growing, { content: "y" })
  assert.deepEqual(convert(messages, { sign: "" }), ["a", "y", "b"])
})

test("createIncrementalConverter() returns a list of its own, and caches nothing that failed", () => {
  let fails = true
  const convert = createIncrementalConverter((made: string[], { content }, _: string) => {
    if (fails && content === "b") throw new Error("not now")
    made.push(String(content))
  })
  const messages = [frozen("a"), frozen("b")]
  assert.throws(() => convert(messages, ""), /not now/)
  fails = false
  convert(messages, "").length = 0
  assert.deepEqual(convert(messages, ""), ["a", "b"])
})

test("normalizeMessages() returns the same for a cached conversation as for a new one", () => {
  const targets = [
    { wire: "chat", quirks: {} },
    { wire: "chat", quirks: { mistral: true, echoReasoning: true } },
    { wire: "messages", quirks: {} },
    { wire: "responses", quirks: {} },
  ] as const
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandom(seed)
    let prompt: Message[] = [{ role: "system", content: "be good" }]
    for (let turn = 0; turn < 12; turn++) {
      prompt = changed(prompt, random)
      const target = targets[Math.floor(random() * targets.length)]!
      assert.deepEqual(
        normalizeMessages(prompt, target),
        normalizeMessages(structuredClone(prompt), target),
        `seed ${seed}, turn ${turn}`,
      )
    }
  }
})

/** The conversation goes on, loses its end, or has a message replaced. */
function changed(prompt: Message[], random: () => number): Message[] {
  const pick = <const T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const text = () => ({ type: "text" as const, text: pick(["", " ", "a", "b"]) })
  const id = pick(["call_1", "x".repeat(70), "a b", "abcdefghi"])
  const message: Message = pick([
    { role: "user", content: [text(), text()] },
    { role: "assistant", content: [{ type: "reasoning", text: "hm" }, text()] },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: id, toolName: "read", input: {} }] },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: id, toolName: "read", output: { type: "text", value: "v" } },
      ],
    },
    { role: "system", content: pick(["", "now this"]) },
  ])
  const next = random() < 0.9 ? Object.freeze(message) : message
  const at = Math.floor(random() * prompt.length)
  if (random() < 0.7) return [...prompt, next]
  return random() < 0.5 ? prompt.slice(0, at + 1) : prompt.with(at, next)
}
