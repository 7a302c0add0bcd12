// At every turn, a converter gives what a conversion from the start would give, and never changes what it gave
// before.
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

test("createConverter() returns the same frozen messages again", () => {
  const history = [user("a"), calls("1"), result("1")]
  const converter = Message.createConverter({ input: ["text"] })
  const before = converter.toModel(history)
  const after = converter.toModel([...history, calls("2"), result("2")])
  assert.equal(after.length, 5)
  for (const [i, kept] of before.entries()) assert.equal(after[i], kept)
  for (const { content } of after)
    assert.throws(() => (content as unknown[]).push("more"), { name: "TypeError" })
})

test("createConverter() starts over for another history", () => {
  const converter = Message.createConverter({ input: ["text"] })
  const history = [user("a"), calls("1"), result("1")]
  converter.toModel(history)
  for (const other of [[user("b"), ...history.slice(1)], history.slice(0, 1), [], [history[2]!], history])
    assert.deepEqual(converter.toModel(other), Message.toModel(other, { input: ["text"] }))
})

for (const [name, history] of Object.entries(histories))
  for (const model of models)
    test(`hold() lets another end follow ${name}${model.tools === false ? ", without tools" : ""}`, () => {
      for (let length = 0; length <= history.length; length++) {
        const converter = Message.createConverter(model)
        const start = history.slice(0, length)
        converter.hold(start)
        converter.toModel([...start, user("x"), calls("9"), result("9"), assistant("y")])
        const again = [...start, ...structuredClone(history.slice(length)), user("z")]
        assert.deepEqual(converter.toModel(again), Message.toModel(again, model))
        converter.hold(again)
        for (const other of [[...again, assistant("q")], start, history])
          assert.deepEqual(converter.toModel(other), Message.toModel(other, model))
      }
    })

test("hold() gives the same objects for the messages that stay", () => {
  const converter = Message.createConverter({ input: ["text"] })
  const start = [user("a"), calls("1"), result("1")]
  converter.hold(start)
  const before = converter.toModel([...start, assistant("b")])
  const after = converter.toModel([...start, assistant("c"), user("d")])
  for (let i = 0; i < start.length; i++) assert.equal(after[i], before[i])
})

test("reset() lets the converter see a message that changed in place", () => {
  const converter = Message.createConverter({ input: ["text"] })
  const said = user("a")
  converter.hold([said])
  said.data = user("b").data
  converter.reset()
  assert.deepEqual(converter.toModel([said]), Message.toModel([said], { input: ["text"] }))
})
