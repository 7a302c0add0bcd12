// The `tool_search` tool by itself: what it shows, and that it runs nothing.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runTool } from "#ability/tool/run-tool.ts"
import type { Context, FoundTool, Json } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"

const tool = (id: string, more: Partial<FoundTool> = {}): FoundTool => ({
  id,
  description: `Does ${id}.\nAnd more than one line.`,
  parameters: { type: "object", properties: { id: { type: "string" } } },
  listed: false,
  ...more,
})

async function search(args: Json, findTools?: Context["findTools"]) {
  const context = { sessionId: "s", messageId: "m", callId: "c", signal: new AbortController().signal }
  const call = { id: "c", name: "tool_search", arguments: args }
  return runTool({ call, context: { ...context, ...(findTools ? { findTools } : {}) } })
}

test("tool_search shows listed tools in one line, and other tools with their parameters", async () => {
  const asked: unknown[] = []
  const { text, title, data } = await search({ query: "a thing" }, async (query, limit) => {
    asked.push(query, limit)
    return [tool("one", { listed: true }), tool("two")]
  })
  assert.deepEqual(asked, ["a thing", 5])
  const [one, two, more, parameters] = text.split("\n")
  assert.equal(one, "one (now among your tools): Does one.")
  assert.deepEqual([two, more], ["two: Does two.", "    And more than one line."])
  assert.equal(parameters, '  parameters: {"type":"object","properties":{"id":{"type":"string"}}}')
  assert.match(text, /tool_search \{ "call": its name, "arguments": \{…\} \}\.$/)
  assert.deepEqual([title, data], ["a thing (2)", { found: ["one", "two"] }])
})

test("tool_search says what to do if nothing is found", async () => {
  assert.equal((await search({ query: "x" }, async () => [])).text, "No other tool fits. Try other words.")
  const alone = await search({ query: "x" })
  assert.equal(alone.text, "There are no other tools than those that you have.")
  assert.equal((await search({})).status, "error")
  assert.equal((await search({ query: "x", limit: 21 })).status, "error")
})

test("tool_search never calls a tool; the session does", async () => {
  const { status, text } = await search({ call: "bash", arguments: { command: "true" } }, async () => [])
  assert.equal(status, "error")
  assert.match(text, /"bash" cannot be called by tool_search/)
})

test("tool_search is for sessions with many tools, and for agents that name it", () => {
  const { onlyNamed, readOnly } = ToolRegistry.get("tool_search")
  assert.deepEqual([onlyNamed, readOnly], [true, true])
})
