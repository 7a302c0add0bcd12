// Calls and results in a prompt: each call has one result, right after it, whatever happened to the history.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"
import { checkPairing } from "../../fixture/check-pairing.ts"
import { repeat } from "../../fixture/soak.ts"
import { assistant, calls, createRandom, message, randomMessage, result, user } from "./fixture.ts"

const model: Message.Facts = { input: ["text"] }
const interrupted = "The call was interrupted; whether it had an effect is not known."

/** A prompt in short: `assistant: a, call 1` and `tool: 1=…`. */
function outline(history: Message.Info[], facts = model): string[] {
  const prompt = Message.toModel(history, facts)
  assert.deepEqual(checkPairing(prompt), { ok: true })
  return prompt.map(({ role, content }) => {
    if (typeof content === "string") return `${role}: ${content}`
    const parts = content.map((part) => {
      if (part.type === "text") return part.text
      if (part.type === "tool-call") return `call ${part.toolCallId}`
      if (part.type !== "tool-result") return part.type
      const value = "value" in part.output ? part.output.value : part.output
      return `${part.toolCallId}=${value === interrupted ? "interrupted" : JSON.stringify(value)}`
    })
    return `${role}: ${parts.join(", ")}`
  })
}

const r = (id: string) => `${id}="content of ${id}"`
const rows: [what: string, history: Message.Info[], prompt: string[]][] = [
  [
    "parallel calls, answered in another order",
    [user("q"), calls("1", "2", "3"), result("3"), result("1"), result("2")],
    ["user: q", "assistant: call 1, call 2, call 3", `tool: ${r("1")}, ${r("2")}, ${r("3")}`],
  ],
  [
    "calls in the middle of text",
    [
      user("q"),
      assistant(
        [
          { type: "text", text: "before" },
          { type: "text", text: "after" },
        ],
        "tool-calls",
      ),
      calls("1"),
      result("1"),
    ],
    ["user: q", "assistant: before, after, call 1", `tool: ${r("1")}`],
  ],
  [
    "turns of calls only",
    [user("q"), calls("1"), result("1"), calls("2"), result("2"), assistant("done")],
    [
      "user: q",
      "assistant: call 1",
      `tool: ${r("1")}`,
      "assistant: call 2",
      `tool: ${r("2")}`,
      "assistant: done",
    ],
  ],
  [
    "a turn that was aborted before any result",
    [user("q"), assistant("a", "interrupted"), calls("1", "2"), user("go on")],
    ["user: q", "assistant: a, call 1, call 2", "tool: 1=interrupted, 2=interrupted", "user: go on"],
  ],
  [
    "a result that is missing",
    [user("q"), calls("1", "2"), result("2"), assistant("b")],
    ["user: q", "assistant: call 1, call 2", `tool: 1=interrupted, ${r("2")}`, "assistant: b"],
  ],
  [
    "a history that ends in a call",
    [user("q"), calls("1")],
    ["user: q", "assistant: call 1", "tool: 1=interrupted"],
  ],
  [
    "a result that is there twice",
    [user("q"), calls("1"), result("1"), result("1", "again"), assistant("b")],
    ["user: q", "assistant: call 1", `tool: ${r("1")}`, "assistant: b"],
  ],
  [
    "a result without a call",
    [user("q"), result("9"), assistant("b"), result("8")],
    ["user: q", "assistant: b"],
  ],
  [
    "a result before its call",
    [user("q"), result("1"), calls("1")],
    ["user: q", "assistant: call 1", "tool: 1=interrupted"],
  ],
  [
    "a result behind a queued prompt",
    [user("q"), calls("1"), user("also"), result("1"), assistant("b")],
    ["user: q", "assistant: call 1", `tool: ${r("1")}`, "user: also", "assistant: b"],
  ],
  [
    "a text between two requests",
    [user("q"), calls("1"), assistant("b"), calls("2"), result("2"), result("1")],
    ["user: q", "assistant: call 1", `tool: ${r("1")}`, "assistant: b, call 2", `tool: ${r("2")}`],
  ],
  [
    "ids that are numbered anew in each turn",
    [user("q"), calls("c"), result("c", "one"), calls("c"), result("c", "two"), calls("c"), calls("c_1")],
    [
      "user: q",
      "assistant: call c",
      'tool: c="one"',
      "assistant: call c_1",
      'tool: c_1="two"',
      "assistant: call c_2",
      "tool: c_2=interrupted",
      "assistant: call c_1_1",
      "tool: c_1_1=interrupted",
    ],
  ],
  [
    "an interrupted call whose id comes again",
    [user("q"), calls("c"), user("go on"), calls("c"), result("c")],
    [
      "user: q",
      "assistant: call c",
      "tool: c=interrupted",
      "user: go on",
      "assistant: call c_1",
      'tool: c_1="content of c"',
    ],
  ],
  [
    "one id twice in one request",
    [user("q"), calls("c", "c"), result("c"), result("c")],
    ["user: q", "assistant: call c, call c_1", `tool: ${r("c")}, c_1=interrupted`],
  ],
  ["a request without calls", [user("q"), calls(), user("r")], ["user: q, r"]],
  ["a call without an id", [calls("")], ["assistant: call call", "tool: call=interrupted"]],
]
for (const [what, history, prompt] of rows)
  test(`Message.toModel() pairs ${what}`, () => assert.deepEqual(outline(history), prompt))

type Outcome = Partial<Message.Of<"tool_result">["data"]>
const outcomes: [what: string, data: Outcome, output: unknown][] = [
  ["plain text", { output: "x" }, { type: "text", value: "x" }],
  ["structure", { output: { a: [1] } }, { type: "json", value: { a: [1] } }],
  ["nothing", { output: null }, { type: "json", value: null }],
  [
    "an error, without its stack",
    { status: "error", output: null, error: { message: "no file", stack: "at secret", recoverable: true } },
    { type: "error-text", value: "no file" },
  ],
  [
    "an error with output",
    { status: "error", output: "line 1", error: { message: "exit 1", recoverable: true } },
    { type: "error-text", value: "exit 1\nline 1" },
  ],
  [
    "an error that its output tells already",
    { status: "error", output: "failed: exit 1", error: { message: "exit 1", recoverable: true } },
    { type: "error-text", value: "failed: exit 1" },
  ],
  [
    "an interruption with output",
    { status: "interrupted", output: "half" },
    { type: "error-text", value: "The call was interrupted.\nhalf" },
  ],
]
for (const [what, data, output] of outcomes)
  test(`Message.toModel() gives the model a result: ${what}`, () => {
    const base = {
      requestId: "1",
      toolName: "read",
      status: "success" as const,
      output: "",
      duration: 1,
      timestamp: 1,
    }
    const prompt = Message.toModel([calls("1"), message("tool_result", { ...base, ...data })], model)
    assert.deepEqual(prompt[1], {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "1", toolName: "read", output }],
    })
  })

const wrong: [what: string, call: Partial<Message.Call>, shown: object][] = [
  ["arguments that are not JSON", { invalid: '{"a' }, { input: { rawInvalidInput: '{"a' } }],
  ["arguments that are no object", { arguments: [1] }, { input: { rawInvalidInput: [1] } }],
  ["no name", { name: "" }, { toolName: "unnamed" }],
  ["a name that providers refuse", { name: "read file!" }, { toolName: "read_file_" }],
]
for (const [what, call, shown] of wrong)
  test(`Message.toModel() shows a call with ${what} so that providers take it`, () => {
    const whole = { id: "1", name: "read", arguments: {}, approval: "approved" as const, ...call }
    const prompt = Message.toModel([message("tool_request", { calls: [whole] })], model)
    const expected = { type: "tool-call", toolCallId: "1", toolName: "read", input: {}, ...shown }
    assert.deepEqual(prompt[0]?.content, [expected])
    assert.deepEqual(checkPairing(prompt), { ok: true })
  })

test("Message.toModel() tells a denied call from an interrupted one", () => {
  const denied = { id: "1", name: "rm", arguments: {}, approval: "denied" as const }
  assert.deepEqual(outline([message("tool_request", { calls: [denied] })]), [
    "assistant: call 1",
    'tool: 1="The call was denied and did not run."',
  ])
})

test("Message.toModel() sends calls and results as text to a model without tools", () => {
  const history = [user("q"), assistant("a"), calls("1", "2"), result("2", { n: 1 }), user("and?")]
  assert.deepEqual(outline(history, { ...model, tools: false }), [
    "user: q",
    'assistant: a, [called read with {"path":"1"}], [called read with {"path":"2"}]',
    `user: [result of read]\n${interrupted}, [result of read]\n{"type":"json","value":{"n":1}}, and?`,
  ])
})

test("Message.toModel() gives a prompt that can be sent, whatever the history", () => {
  const types = ["text", "image", "file_reference", "tool_request", "tool_result", "unknown"] as const
  for (let seed = 1; seed <= repeat(300, 20_000); seed++) {
    const random = createRandom(seed)
    const history = Array.from({ length: 1 + Math.floor(random() * 30) }, () =>
      randomMessage(types[Math.floor(random() * types.length)]!, random),
    )
    const prompt = Message.toModel(history, { input: ["text", "image"] })
    assert.deepEqual(checkPairing(prompt), { ok: true }, `seed ${seed}`)
    for (const [i, { role, content }] of prompt.entries()) {
      assert.ok(content.length > 0, `seed ${seed}`)
      assert.ok(role === "system" || role === "tool" || role !== prompt[i - 1]?.role, `seed ${seed}`)
    }
  }
})
