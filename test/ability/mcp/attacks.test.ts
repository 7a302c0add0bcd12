// Messages of a server that try to break the client: one bad message must affect nothing but itself.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { createOutputValidator } from "#ability/mcp/client/output-validator.ts"
import { loadSDK } from "#ability/mcp/server/sdk.ts"
import type { MCPClientConfig } from "#ability/mcp/server/types.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { deepObject, rawServer, resultOf } from "./raw-server.ts"

test("lines with extreme nesting are skipped, and the call is answered", async () => {
  await using tmp = await tmpdir()
  const deepList = `[${"[".repeat(100_000)}${"]".repeat(100_000)}]`
  const fine = resultOf('{"content":[{"type":"text","text":"fine"}]}')
  const server = rawServer(join(tmp.path, "raw"), {
    "tools/call": [deepList, deepObject(100_000), fine],
  })
  await using client = clientOf({ server })
  assert.deepEqual((await client.callTool("good")).content, [{ type: "text", text: "fine" }])
})

test("a list entry with extreme nesting is left out, the others stay", async () => {
  await using tmp = await tmpdir()
  const deep = deepObject(20_000)
  const entries = [
    `{"name":7,"inputSchema":${deep}}`,
    `{"name":"deep","inputSchema":{"type":"object","properties":${deep}}}`,
    `{"name":"out","inputSchema":{"type":"object"},"outputSchema":${deep}}`,
    '{"name":"good","inputSchema":{"type":"object"}}',
  ]
  const server = rawServer(join(tmp.path, "raw"), {
    "tools/list": [resultOf(`{"tools":[${entries}]}`)],
  })
  const logs: string[] = []
  await using client = clientOf({ server, hooks: { onLog: ({ message }) => void logs.push(message) } })
  assert.deepEqual(
    (await client.listTools()).map(({ name }) => name),
    ["good"],
  )
  assert.equal(logs.filter((line) => line.includes("left out")).length, 3)
})

test("a result schema cannot make its check asynchronous or endless", async () => {
  const validator = createOutputValidator(await loadSDK())
  const beside = validator.getValidator({ $async: true, type: "object", required: ["x"] } as never)
  assert.equal(beside({ y: 1 }).valid, false)
  const items = Array.from({ length: 20_000 }, (_, i) => ({ at: { i } }))
  const unique = validator.getValidator({ type: "array", uniqueItems: true } as never)
  const start = process.cpuUsage()
  assert.equal(unique(items).valid, true)
  // Each compared to each takes minutes.
  assert.ok(process.cpuUsage(start).user < 5_000_000)
})

test("an endless list is cut once it is too large", async () => {
  await using tmp = await tmpdir()
  const long = "d".repeat(4 << 20)
  const page = {
    tools: [{ name: "t$id", description: long, inputSchema: { type: "object" } }],
    nextCursor: "$id",
  }
  const answer = resultOf(JSON.stringify(page))
  const server = rawServer(join(tmp.path, "raw"), { "tools/list": [answer] })
  const logs: string[] = []
  await using client = clientOf({ server, hooks: { onLog: ({ message }) => void logs.push(message) } })
  await client.listTools()
  assert.match(logs.join("\n"), /tools\/list does not end: only 8 entries on 8 pages were taken/)
})

test("a call compiles only the result schema of its own tool", async () => {
  await using tmp = await tmpdir()
  const properties = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, { type: "string" }]))
  const outputSchema = { type: "object", properties }
  const tools = Array.from({ length: 500 }, (_, i) => ({
    name: `t${i}`,
    inputSchema: { type: "object" },
    outputSchema: { ...outputSchema, title: `of ${i}` },
  }))
  const server = rawServer(join(tmp.path, "raw"), {
    "tools/list": [resultOf(JSON.stringify({ tools }))],
    "tools/call": [resultOf('{"content":[],"structuredContent":{"p1":"x"}}')],
  })
  await using client = clientOf({ server })
  await client.listTools()
  const start = process.cpuUsage()
  assert.equal((await client.callTool("t7")).isError, false)
  assert.ok(process.cpuUsage(start).user < 5_000_000)
})

test("the name that a server reports is cut and escaped", async () => {
  await using tmp = await tmpdir()
  const info = JSON.stringify({ name: "n".repeat(1_000_000), version: "1\u001b[2J" })
  const server = rawServer(join(tmp.path, "raw"), {
    initialize: [
      resultOf(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":${info}}`),
    ],
  })
  await using client = clientOf({ server })
  const { name, version } = await client.connect()
  assert.ok(name.length < 200, String(name.length))
  assert.equal(version, "1\\u{1b}[2J")
})

function clientOf(config: MCPClientConfig) {
  const client = createMCPClient(config)
  return { ...client, [Symbol.asyncDispose]: client.close }
}
