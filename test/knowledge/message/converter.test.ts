// A converter gives at every turn what a conversion from the start would give, and never changes what it gave before.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"
import { assistant, calls, message, result, user } from "./fixture.ts"

const models: Message.Facts[] = [{ input: ["text"] }, { input: ["text"], tools: false }]
const thinks = () =>
  message("text", { role: "assistant", parts: [{ type: "reasoning", text: "hm" }], finish: "stop" })
const says = (role: "system" | "assistant") =>
  message("text", { role, parts: [{ type: "text", text: "ok" }], finish: "stop" })

const histories: Record<string, Message.Info[]> = {
  "turns that call": [
    user("a"),
    calls("1"),
    result("1"),
    calls("2", "3"),
    result("3"),
    result("2"),
    assistant("b"),
  ],
  "results that come late": [user("a"), calls("1", "2"), result("2"), user("b"), result("1"), user("c")],
  "ids that come again": [user("a"), calls("1"), result("1"), calls("1"), result("1"), result("1")],
  "parts that meet": [
    user("a"),
    user("b"),
    assistant("c"),
    assistant("d"),
    calls("1"),
    calls("2"),
    result("1"),
  ],
  "thoughts alone": [user("a"), thinks(), user("b"), thinks(), calls("1"), result("1"), thinks()],
  "words of the system": [
    says("system"),
    user("a"),
    says("assistant"),
    says("system"),
    thinks(),
    says("system"),
  ],
}

for (const [name, history] of Object.entries(histories))
  for (const model of models)
    test(`createConverter() follows ${name}${model.tools === false ? ", without tools" : ""}`, () => {
      for (const step of [1, 2, 3]) {
        const converter = Message.createConverter(model)
        const given: [prompt: unknown, text: string][] = []
        for (let length = 0; length <= history.length; length += step) {
          const prompt = converter.toModel(history.slice(0, length))
          assert.deepEqual(prompt, Message.toModel(history.slice(0, length), model))
          given.push([prompt, JSON.stringify(prompt)])
        }
        for (const [prompt, text] of given) assert.equal(JSON.stringify(prompt), text)
      }
    })

test("createConverter() keeps the messages that it gave, frozen", () => {
  const history = [user("a"), calls("1"), result("1")]
  const converter = Message.createConverter({ input: ["text"] })
  const before = converter.toModel(history)
  const after = converter.toModel([...history, calls("2"), result("2")])
  assert.equal(after.length, 5)
  for (const [i, kept] of before.entries()) assert.equal(after[i], kept)
  for (const { content } of after)
    assert.throws(() => (content as unknown[]).push("more"), { name: "TypeError" })
})

test("createConverter() begins anew where the history is another one", () => {
  const converter = Message.createConverter({ input: ["text"] })
  const history = [user("a"), calls("1"), result("1")]
  converter.toModel(history)
  for (const other of [[user("b"), ...history.slice(1)], history.slice(0, 1), [], [history[2]!], history])
    assert.deepEqual(converter.toModel(other), Message.toModel(other, { input: ["text"] }))
})
