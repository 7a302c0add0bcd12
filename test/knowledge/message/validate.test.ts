// The rules for messages, as tables: what is accepted, and what is reported.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"
import { examples } from "../../../script/messages.ts"
import { envelope } from "./fixture.ts"

type Row = [what: string, type: string, data: unknown, paths: string[]]

const call = { id: "1", name: "read", arguments: {}, approval: "pending" }
const cycle: unknown[] = []
cycle.push(cycle)
const text = (role: string, ...texts: string[]) => ({
  role,
  parts: texts.map((text) => ({ type: "text", text })),
})
const outcome = { requestId: "1", toolName: "read", status: "success", output: "", duration: 0, timestamp: 0 }
const file = (path: string, more = {}) => ({ path, status: "pending", ...more })
const requests = (...calls: unknown[]) => ({ calls })

const rows: Row[] = [
  ["a user's text", "text", text("user", "hi"), []],
  ["a system text", "text", text("system", "hi"), []],
  ["a blank part beside words", "text", text("user", " ", "hi"), []],
  ["no parts", "text", text("user"), ["data.parts"]],
  ["blank text", "text", text("user", "", " \n"), ["data.parts"]],
  ["an answer that is streaming", "text", text("assistant"), []],
  ["an answer that was cut off", "text", { ...text("assistant"), finish: "interrupted" }, []],
  ["an answer that failed", "text", { ...text("assistant"), finish: "error" }, []],
  ["an empty answer that ended", "text", { ...text("assistant"), finish: "stop" }, ["data.parts"]],
  [
    "an encrypted thought",
    "text",
    {
      role: "assistant",
      finish: "stop",
      parts: [{ type: "reasoning", text: "", providerMetadata: { a: {} } }],
    },
    [],
  ],
  ["another role", "text", text("tool", "hi"), ["data.role"]],
  ["a part without text", "text", { role: "user", parts: [{ type: "text" }] }, ["data.parts.0.text"]],
  ["a part of another type", "text", { role: "user", parts: [{ type: "video" }] }, ["data.parts.0.type"]],
  [
    "metadata that is no object",
    "text",
    { role: "user", parts: [{ type: "text", text: "a", providerMetadata: "x" }] },
    ["data.parts.0.providerMetadata"],
  ],
  ["a relative path", "file_reference", file("src/a.ts"), []],
  ["an absolute path", "file_reference", file("/etc/hosts"), []],
  ["a name with dots", "file_reference", file("..a/b..c/..."), []],
  ["a range", "file_reference", file("a", { startLine: 1, endLine: 1 }), []],
  ["an open range", "file_reference", file("a", { startLine: 4 }), []],
  ["an empty path", "file_reference", file(""), ["data.path"]],
  ["a blank path", "file_reference", file(" "), ["data.path"]],
  ["a path upward", "file_reference", file("../a"), ["data.path"]],
  ["a path upward inside", "file_reference", file("a/../b"), ["data.path"]],
  ["a path upward at the end", "file_reference", file("/a/.."), ["data.path"]],
  ["a path upward with backslashes", "file_reference", file("a\\..\\b"), ["data.path"]],
  ["a path with ./", "file_reference", file("./a"), ["data.path"]],
  ["a path with //", "file_reference", file("a//b"), ["data.path"]],
  ["a path with NUL", "file_reference", file("a\0b"), ["data.path"]],
  ["a range backwards", "file_reference", file("a", { startLine: 3, endLine: 2 }), ["data.endLine"]],
  ["line 0", "file_reference", file("a", { startLine: 0, endLine: 2 }), ["data.startLine"]],
  ["half a line", "file_reference", file("a", { endLine: 1.5 }), ["data.endLine"]],
  ["calls", "tool_request", requests(call, { ...call, id: "2", approval: "denied" }), []],
  ["no call", "tool_request", requests(), ["data.calls"]],
  ["an empty id", "tool_request", requests({ ...call, id: "" }), ["data.calls.0.id"]],
  ["an id twice", "tool_request", requests(call, call), ["data.calls.1.id"]],
  ["an empty name", "tool_request", requests({ ...call, name: "" }), ["data.calls.0.name"]],
  ["a name with blanks", "tool_request", requests({ ...call, name: "read file" }), ["data.calls.0.name"]],
  ["a long name", "tool_request", requests({ ...call, name: "a".repeat(65) }), ["data.calls.0.name"]],
  [
    "arguments that were not JSON",
    "tool_request",
    requests({ ...call, invalid: "{" }),
    ["data.calls.0.arguments"],
  ],
  ["a function", "tool_request", requests({ ...call, arguments: { f() {} } }), ["data.calls.0.arguments"]],
  ["NaN", "tool_request", requests({ ...call, arguments: [Number.NaN] }), ["data.calls.0.arguments"]],
  ["a cycle", "tool_request", requests({ ...call, arguments: cycle }), ["data.calls.0.arguments"]],
  [
    "a date",
    "tool_request",
    requests({ ...call, arguments: { at: new Date(0) } }),
    ["data.calls.0.arguments"],
  ],
  ["a big integer", "tool_request", requests({ ...call, arguments: { n: 1n } }), ["data.calls.0.arguments"]],
  ["another approval", "tool_request", requests({ ...call, approval: "yes" }), ["data.calls.0.approval"]],
  ["a result", "tool_result", outcome, []],
  ["a result of nothing", "tool_result", { ...outcome, requestId: "" }, ["data.requestId"]],
  ["a failure without words", "tool_result", { ...outcome, status: "error" }, ["data.error"]],
  ["a negative duration", "tool_result", { ...outcome, duration: -1 }, ["data.duration"]],
  ["an image from nowhere", "image", { source: { kind: "url", value: "" } }, ["data.source.value"]],
  ["an image of another kind", "image", { source: { kind: "disk", value: "a" } }, ["data.source.kind"]],
  ["a control without a name", "system_control", { control: "" }, ["data.control"]],
  [
    "a resource without names",
    "mcp_resource",
    { serverName: "", resourceUri: "", content: "" },
    ["data.serverName", "data.resourceUri"],
  ],
  ["an original that is not JSON", "unknown", { original: "{" }, ["data.original"]],
]
for (const [what, type, data, paths] of rows)
  test(`Message.validate() ${paths.length ? "names" : "passes"} ${what} (${type})`, () => {
    const checked = Message.validate({ ...envelope, type, data })
    const found = checked.ok ? [] : checked.problems.map(({ path }) => path)
    assert.deepEqual(found, paths)
    assert.equal(checked.ok, paths.length === 0)
  })

test("Message.validate() lets an empty text pass where that is allowed", () => {
  const empty = { ...envelope, type: "text", data: text("user") }
  assert.deepEqual(Message.validate(empty, { allowEmpty: true }), { ok: true })
  assert.equal(Message.validate(empty).ok, false)
})

test("Message.validate() names an envelope without ids", () => {
  const checked = Message.validate({
    ...envelope,
    id: "",
    sessionId: "",
    type: "text",
    data: text("user", "a"),
  })
  assert.deepEqual(checked, {
    ok: false,
    problems: [
      { path: "id", message: "it is empty" },
      { path: "sessionId", message: "it is empty" },
    ],
  })
})

test("Message.validate() suggests the correct path", () => {
  const checked = Message.validate({ ...envelope, type: "file_reference", data: file("./a//b") })
  assert.ok(!checked.ok)
  assert.equal(checked.problems[0]?.message, '"./a//b" is not normalised; write "a/b"')
})

test("Message.validate() passes every example of the document but the call that is wrong on purpose", () => {
  for (const example of Object.values(examples)) {
    const checked = Message.validate(example)
    const paths = checked.ok ? [] : checked.problems.map(({ path }) => path)
    assert.deepEqual(paths, example.type === "tool_request" ? ["data.calls.1.arguments"] : [])
  }
})
