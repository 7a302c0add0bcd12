// Tool calls in OpenAI's form, right and wrong, as the data of one tool request.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"

const call = (id: unknown, name: unknown, args?: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: args },
})

test("Message.fromToolCalls() makes one request of all calls, with their ids and parsed arguments", () => {
  const data = Message.fromToolCalls([call("a", "read", '{"path":"x","lines":[1,2]}'), call("b", "ls", "{}")])
  assert.deepEqual(data, {
    calls: [
      { id: "a", name: "read", arguments: { path: "x", lines: [1, 2] }, approval: "pending" },
      { id: "b", name: "ls", arguments: {}, approval: "pending" },
    ],
  })
  const request = Message.make({ sessionId: "s", parentId: null, type: "tool_request", data })
  assert.deepEqual(Message.validate(request), { ok: true })
})

const argumentRows: [what: string, given: unknown, found: object][] = [
  ["text that is cut off", '{"path":"x', { arguments: {}, invalid: '{"path":"x' }],
  ["words", "read x", { arguments: {}, invalid: "read x" }],
  ["two objects", "{}{}", { arguments: {}, invalid: "{}{}" }],
  ["an empty text", "", { arguments: {} }],
  ["blanks", " \n", { arguments: {} }],
  ["nothing", undefined, { arguments: {} }],
  ["null", null, { arguments: {} }],
  ["an object as it is", { path: "x" }, { arguments: { path: "x" } }],
  ["a list in text", "[1]", { arguments: [1] }],
]
for (const [what, given, found] of argumentRows)
  test(`Message.fromToolCalls() takes ${what} as arguments and loses nothing`, () => {
    const { calls } = Message.fromToolCalls([call("a", "read", given)])
    assert.deepEqual(calls, [{ id: "a", name: "read", ...found, approval: "pending" }])
  })

test("Message.fromToolCalls() makes unique ids for calls with equal or missing ones", () => {
  const given = [
    call("a", "read"),
    call("a", "ls"),
    call("a_2", "ls"),
    call("", "ls"),
    call(undefined, "ls"),
    "oops",
  ]
  const { calls } = Message.fromToolCalls(given)
  assert.deepEqual(
    calls.slice(0, 3).map(({ id }) => id),
    ["a", "a_2", "a_2_2"],
  )
  for (const { id } of calls.slice(3)) assert.match(id, /^call_/)
  assert.equal(new Set(calls.map(({ id }) => id)).size, given.length)
})

test("Message.fromToolCalls() keeps invalid calls, and Message.validate() reports them", () => {
  const data = Message.fromToolCalls([call("a", ""), call("b", 5), "oops", call("d", "read", "{")])
  assert.deepEqual(
    data.calls.map(({ name, invalid }) => ({ name, invalid })),
    [
      { name: "", invalid: undefined },
      { name: "", invalid: undefined },
      { name: "", invalid: '"oops"' },
      { name: "read", invalid: "{" },
    ],
  )
  const checked = Message.validate(
    Message.make({ sessionId: "s", parentId: null, type: "tool_request", data }),
  )
  assert.ok(!checked.ok)
  assert.deepEqual(
    checked.problems.map(({ path }) => path),
    [
      "data.calls.0.name",
      "data.calls.1.name",
      "data.calls.2.name",
      "data.calls.2.arguments",
      "data.calls.3.arguments",
    ],
  )
})

test("Message.fromToolCalls() keeps the metadata that the provider wants back", () => {
  const providerMetadata = { google: { thoughtSignature: "s" } }
  const { calls } = Message.fromToolCalls([{ ...call("a", "read", "{}"), providerMetadata }])
  assert.deepEqual(calls[0]?.providerMetadata, providerMetadata)
})

test("Message.fromToolCalls() of no calls is a request without calls", () => {
  assert.deepEqual(Message.fromToolCalls([]), { calls: [] })
})
