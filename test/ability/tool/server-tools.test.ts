// Tools of MCP servers as tools of vitamin: their names, which of their annotations count, and their results.
import assert from "node:assert/strict"
import { test } from "node:test"
import { zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
import { checkSchema } from "#ability/tool/check-schema.ts"
import { outputOf } from "#ability/tool/server-output.ts"
import { nameApart, type ServerTool, type ToolServer, toolsOf } from "#ability/tool/server-tools.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

function server(id: string, tools: Partial<ServerTool>[]): ToolServer {
  return {
    server: { id },
    listTools: async () => tools.map((tool) => ({ name: "x", inputSchema: { type: "object" }, ...tool })),
    callTool: async (name) => ({ content: [{ type: "text", text: `${id}/${name}` }], isError: false }),
  }
}

const limited = { type: "object", properties: { limit: { type: "integer" } } }

async function toolsFrom(id: string, ...tools: Partial<ServerTool>[]) {
  const one = server(id, tools)
  return toolsOf(one, await one.listTools())
}

test("ToolRegistry.loadFromMCP() registers every tool of a server and replaces its earlier ones", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      await ToolRegistry.loadFromMCP(server("db", [{ name: "query" }, { name: "drop" }]))
      const problems = await ToolRegistry.loadFromMCP(
        server("db", [{ name: "query" }, { name: "list", inputSchema: limited }]),
      )
      assert.deepEqual(problems, [])
      assert.deepEqual(
        ToolRegistry.list().flatMap(({ id, server }) => (server === "db" ? [id] : [])),
        ["db_list", "db_query"],
      )
      const query = ToolRegistry.get("db_query")
      const [{ fingerprint, ...need } = assert.fail("it needs nothing")] = query.permission!({})
      assert.deepEqual(need, { permission: "mcp.call", target: "db/query" })
      assert.match(fingerprint ?? "", /^[0-9a-f]{64}$/)
      assert.equal(query.readOnly, false)
      assert.equal(ToolRegistry.find("db_drop"), undefined)
      assert.ok(ToolRegistry.toModelTools().some(({ name }) => name === "db_list"))
      const { db_list } = ToolRegistry.toAISDKTools()
      assert.deepEqual(zodToToolSchema(db_list!.inputSchema).properties, limited.properties)
      await ToolRegistry.removeFromMCP("db")
      assert.equal(ToolRegistry.find("db_query"), undefined)
      assert.ok(ToolRegistry.find("read"))
    },
  })
})

test("tool names suit providers, are unique, and do not depend on the order of the servers", async () => {
  const long = "t".repeat(100)
  const a = (await toolsFrom("a", { name: "b_c" }, { name: "ls.all" }, { name: "ls/all" }, { name: long }))
    .tools
  const ab = (await toolsFrom("a_b", { name: "c" }, { name: `${long}2` })).tools
  const taken = new Set(["a_ls_all"])
  const one = nameApart([...a, ...ab], taken)
  const other = nameApart([...ab, ...a].reverse(), taken)
  const named = (tools: typeof one) => tools.map((tool) => [tool.permission!({})[0]!.target, tool.id])
  assert.deepEqual(named(one), named(other))
  const ids = one.map(({ id }) => id)
  assert.equal(new Set([...ids, ...taken]).size, ids.length + 1)
  for (const id of ids) assert.match(id, /^[\w-]{1,64}$/)
  assert.equal(ids.includes("a_b_c"), false, "neither of the two has it")
})

test("a renamed tool uses its new name in its own texts", async () => {
  const changed = { name: "c", description: "Reads keys", inputSchema: { type: "object" } }
  const one: ToolServer = {
    ...server("a_b", [{ name: "c" }]),
    async callTool(_name, _args, { onReady }) {
      onReady?.([changed])
      return assert.fail("it was run")
    },
  }
  const { tools } = toolsOf(one, await one.listTools())
  const named = nameApart([...tools, ...(await toolsFrom("a", { name: "b_c" })).tools], new Set())
  const tool = named.find((tool) => tool.server === "a_b")!
  assert.match(tool.id, /^a_b_c_\w{8}$/)
  const context = { sessionId: "s", messageId: "m", callId: "c", signal: new AbortController().signal }
  await assert.rejects(async () => tool.execute({}, context), {
    message: new RegExp(`^"${tool.id}" was not run: its server describes it differently now`),
  })
})

test("texts of a server are shown escaped and cut, also those inside of a schema", async () => {
  const hidden = "Good.\u001b[2J\u202egnp\u200b\u{e0041}"
  const { tools } = await toolsFrom("s", {
    description: `${hidden}${"x".repeat(50_000)}`,
    inputSchema: { type: "object", properties: { a: { type: "string", description: hidden } } },
  })
  const [tool] = tools
  assert.ok(tool!.description.length < 5_000)
  assert.match(tool!.description, /^Good\.\\u\{1b\}\[2J\\u\{202e\}gnp\\u\{200b\}\\u\{e0041\}xxx/)
  assert.doesNotMatch(JSON.stringify(tool!.inputSchema), /\u202e|\u200b/)
})

test("a tool whose name or schema cannot be used is left out and named, the others stay", async () => {
  const { tools, problems } = await toolsFrom(
    "s",
    { name: "good" },
    { name: "good" },
    { name: "new\nline" },
    { name: "remote", inputSchema: { type: "object", properties: { a: { $ref: "http://127.0.0.1/x" } } } },
    { name: "list", inputSchema: { type: "array" } },
  )
  assert.deepEqual(
    tools.map(({ id }) => id),
    ["s_good"],
  )
  assert.equal(problems.length, 4)
  assert.match(problems.join("\n"), /"remote" is left out: its schema refers to "http:\/\/127\.0\.0\.1\/x"/)
})

test("checkSchema() refuses what is huge, deep, or would be when its references are expanded", () => {
  assert.equal(
    checkSchema({ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: {} } }),
    undefined,
  )
  const tree = { type: "object", properties: { next: { $ref: "#" } } }
  assert.equal(checkSchema(tree), undefined)
  const laughs = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `d${i}`,
      { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  )
  assert.match(checkSchema({ type: "object", $ref: "#/$defs/d0", $defs: laughs })!, /expanded/)
  let deep: object = {}
  for (let i = 0; i < 50_000; i++) deep = { items: deep }
  assert.match(checkSchema({ type: "object", properties: { deep } })!, /deeper than/)
  assert.match(checkSchema({ type: "object", description: "x".repeat(100_000) })!, /characters/)
})

test("outputOf() converts results to text, images and data, and throws for a reported failure", () => {
  const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" }
  const output = outputOf({
    content: [
      { type: "text", text: "two" },
      image,
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "a://b", text: "inside" } },
      { type: "resource_link", uri: "a://c", name: "more" },
    ],
    structuredContent: { n: 2 },
    isError: false,
  })
  assert.equal(
    output.text,
    "two\n[image 1: image/png, shown below]\n[audio: audio/wav, 3 bytes, which cannot be heard here]\n[resource a://b]\ninside\n[resource a://c: more]",
  )
  assert.deepEqual(output.images, [{ data: image.data, mimeType: "image/png" }])
  assert.deepEqual(output.data, { n: 2 })
  assert.match(outputOf({ content: [], structuredContent: { n: 2 }, isError: false }).text, /"n": 2/)
  assert.throws(() => outputOf({ content: [{ type: "text", text: "no such row" }], isError: true }), {
    name: "MCP.ToolFailed",
    message: "no such row",
  })
})
