// Histories as prompts: roles, what is left out, and which reasoning is sent along.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"
import { assistant, calls, message, result, user } from "./fixture.ts"

const model: Message.Facts = { input: ["text"] }
const text = (text: string) => ({ type: "text", text })
const signed = (text: string, signature: string): Message.Part => ({
  type: "reasoning",
  text,
  providerMetadata: { anthropic: { signature } },
})
const shown = (text: string, signature: string) => ({
  type: "reasoning",
  text,
  providerOptions: { anthropic: { signature } },
})

test("Message.toModel() converts a whole exchange", () => {
  const system = message("text", { role: "system", parts: [{ type: "text", text: "be brief" }] })
  const history = [system, user("read a"), assistant("I read."), calls("1"), result("1"), assistant("Done.")]
  assert.deepEqual(Message.toModel(history, model), [
    { role: "system", content: "be brief" },
    { role: "user", content: [text("read a")] },
    {
      role: "assistant",
      content: [
        text("I read."),
        { type: "tool-call", toolCallId: "1", toolName: "read", input: { path: "1" } },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "read",
          output: { type: "text", value: "content of 1" },
        },
      ],
    },
    { role: "assistant", content: [text("Done.")] },
  ])
})

test("Message.toModel() never shows system control and unknown messages", () => {
  const control = message("system_control", {
    control: "mode_change",
    parameters: { from: "plan", to: "act" },
  })
  const strange = Message.parse({ type: "poll", schema: 1, text: "secret" })
  assert.deepEqual(Message.toModel([control, strange], model), [])
  assert.deepEqual(Message.toModel([user("a"), control, strange, user("b")], model), [
    { role: "user", content: [text("a"), text("b")] },
  ])
})

test("Message.toModel() leaves out empty messages and joins adjacent ones", () => {
  const history = [
    user("a"),
    user(" \n"),
    assistant(""),
    user(),
    user("b", "", "c"),
    assistant([]),
    assistant("x"),
  ]
  assert.deepEqual(Message.toModel([...history, assistant("y")], model), [
    { role: "user", content: [text("a"), text("b"), text("c")] },
    { role: "assistant", content: [text("x"), text("y")] },
  ])
})

test("Message.toModel() gives thoughts and calls their provider's metadata back unchanged", () => {
  const providerMetadata = { anthropic: { caller: { type: "direct" } } }
  const request = message("tool_request", {
    calls: [{ id: "1", name: "ls", arguments: {}, approval: "approved", providerMetadata }],
  })
  const parts: Message.Part[] = [signed("one", "s1"), { type: "text", text: "a" }, signed("", "s2")]
  const [, answer] = Message.toModel([user("q"), assistant(parts, "tool-calls"), request, result("1")], model)
  assert.deepEqual(answer, {
    role: "assistant",
    content: [
      shown("one", "s1"),
      text("a"),
      shown("", "s2"),
      { type: "tool-call", toolCallId: "1", toolName: "ls", input: {}, providerOptions: providerMetadata },
    ],
  })
})

test("Message.toModel() keeps the thoughts of each branch with their own signatures", () => {
  const trunk = [user("q"), assistant([signed("t", "trunk"), { type: "text", text: "a" }])]
  const left = [...trunk, user("l"), assistant([signed("l", "left"), { type: "text", text: "b" }])]
  const right = [...trunk, user("r"), assistant([signed("r", "right"), { type: "text", text: "c" }])]
  const [a, b] = [Message.toModel(left, model), Message.toModel(right, model)]
  assert.deepEqual(a.slice(0, 2), b.slice(0, 2))
  assert.deepEqual(a.at(-1)?.content, [shown("l", "left"), text("b")])
  assert.deepEqual(b.at(-1)?.content, [shown("r", "right"), text("c")])
})

const said: Message.Part = { type: "text", text: "a" }
const plain: Message.Part = { type: "reasoning", text: "hm" }
const bare = { type: "reasoning", text: "hm" }
type Thought = [
  what: string,
  given: Message.Info[],
  facts: Partial<Message.Facts>,
  content: unknown[] | undefined,
]
const thoughts: Thought[] = [
  ["of a whole answer", [assistant([plain, said])], {}, [bare, text("a")]],
  [
    "without signature of an answer that was cut off",
    [assistant([plain, said], "interrupted")],
    {},
    [text("a")],
  ],
  ["without signature of an answer that failed", [assistant([plain, said], "error")], {}, [text("a")]],
  [
    "with signature of an answer cut off",
    [assistant([signed("x", "s"), said], "interrupted")],
    {},
    [shown("x", "s"), text("a")],
  ],
  [
    "of a model that cannot think now",
    [assistant([signed("x", "s"), said])],
    { reasoning: false },
    [text("a")],
  ],
  [
    "of the same provider",
    [assistant([signed("x", "s"), said], "stop", "anthropic/a")],
    { providerId: "anthropic" },
    [shown("x", "s"), text("a")],
  ],
  [
    "of another provider",
    [assistant([signed("x", "s"), said], "stop", "anthropic/a")],
    { providerId: "openai" },
    [text("a")],
  ],
  [
    "of a provider with a longer name",
    [assistant([signed("x", "s"), said], "stop", "openai2/a")],
    { providerId: "openai" },
    [text("a")],
  ],
  ["alone", [assistant([signed("x", "s")], "length")], {}, undefined],
  ["alone, then cut off", [assistant([signed("x", "s")], "interrupted"), user("next")], {}, undefined],
  ["blank and unsigned", [assistant([{ type: "reasoning", text: " " }, said])], {}, [text("a")]],
]
for (const [what, given, facts, content] of thoughts)
  test(`Message.toModel() handles thoughts ${what}`, () => {
    const prompt = Message.toModel([user("q"), ...given], { ...model, ...facts })
    assert.deepEqual(prompt.find(({ role }) => role === "assistant")?.content, content)
  })

test("Message.toModel() keeps thoughts that only lead to a call, and drops foreign metadata of calls", () => {
  const request = message(
    "tool_request",
    {
      calls: [
        { id: "1", name: "ls", arguments: {}, approval: "approved", providerMetadata: { a: { x: 1 } } },
      ],
    },
    { model: "anthropic/a" },
  )
  const history = [
    user("q"),
    assistant([signed("x", "s")], "tool-calls", "anthropic/a"),
    request,
    result("1"),
  ]
  const bareCall = { type: "tool-call", toolCallId: "1", toolName: "ls", input: {} }
  const own = Message.toModel(history, { ...model, providerId: "anthropic" })
  assert.deepEqual(own[1]?.content, [shown("x", "s"), { ...bareCall, providerOptions: { a: { x: 1 } } }])
  const other = Message.toModel(history, { ...model, providerId: "google" })
  assert.deepEqual(other[1]?.content, [bareCall])
})

test("Message.toModel() gives the same bytes for the same history, and more of it only adds", () => {
  const history = [
    user("q"),
    message("image", { source: { kind: "base64", value: "AAAA" }, mode: "auto", state: "pending" }),
    assistant("a"),
    calls("1", "2"),
    result("2"),
    result("1"),
    assistant("b"),
  ]
  const copy = history.map((one) => Message.parse(Message.serialize(one)))
  const before = JSON.stringify(history)
  const bytes = JSON.stringify(Message.toModel(history, { input: ["text", "image"] }))
  assert.equal(JSON.stringify(Message.toModel(copy, { input: ["text", "image"] })), bytes)
  assert.equal(JSON.stringify(Message.toModel(history, { input: ["text", "image"] })), bytes)
  assert.equal(JSON.stringify(history), before)
  const longer = JSON.stringify(Message.toModel([...history, user("next")], { input: ["text", "image"] }))
  assert.ok(longer.startsWith(bytes.slice(0, -1)))
})
