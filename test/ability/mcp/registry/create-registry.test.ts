// The registry with real servers, and with local tools beside them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createMCPRegistry } from "#ability/mcp/registry/create-registry.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { runTool } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { officialServer, tinyServer } from "../servers.ts"

function config(id: string, { command, args }: ReturnType<typeof tinyServer>): MCPServerConfig {
  return { id, name: id, transport: "stdio", command: [command, ...args] }
}

test("createMCPRegistry() finds, calls and reads the offers of server-everything, until it is removed", async () => {
  const registry = createMCPRegistry()
  try {
    const client = await registry.servers.add(config("every", officialServer("everything", "stdio")))
    assert.equal(registry.servers.get("every"), client)
    assert.deepEqual(
      registry.servers.list().map(({ id }) => id),
      ["every"],
    )
    const [found] = await registry.tools.search("echo back the input", { serverId: "every" })
    assert.deepEqual([found!.tool.name, found!.serverId], ["echo", "every"])
    const { content } = await registry.tools.execute("echo", { message: "hello" }, "every")
    assert.deepEqual(content, [{ type: "text", text: "Echo: hello" }])
    const [resource] = await registry.resources.search("architecture")
    const [read] = await registry.resources.read(resource!.resource.uri, resource!.serverId)
    assert.ok(read!.text!.length > 100)
    const [prompt] = await registry.prompts.search("simple prompt")
    const { messages } = await registry.prompts.get({ name: prompt!.prompt.name, serverId: "every" })
    assert.equal(messages[0]!.content.type, "text")
    await assert.rejects(registry.servers.add(config("every", tinyServer({}))), { name: "MCP.Exists" })
    await registry.servers.remove("every")
    assert.deepEqual(await registry.tools.search("echo", { serverId: "every" }), [])
    assert.deepEqual(await registry.resources.search("architecture"), [])
    await assert.rejects(registry.tools.execute("echo", {}, "every"), { name: "MCP.NotFound" })
  } finally {
    await registry.close()
  }
})

test("createMCPRegistry() includes the tools of this program, whose calls pass the gate", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "inside\n")
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const registry = createMCPRegistry()
      await registry.tools.register({ name: "readings", inputSchema: { type: "object" } }, "meter")
      const found = await registry.tools.search("read a file")
      assert.ok(found.some(({ tool, serverId }) => tool.name === "read" && serverId === "local"))
      const result = await registry.tools.execute("read", { path: "a.txt" }, "local")
      assert.equal(result.isError, false)
      assert.match(JSON.stringify(result.content), /inside/)
      const denied = await registry.tools.execute("write", { path: "b.txt", content: "x" }, "local")
      assert.equal(denied.isError, true)
      await registry.close()
    },
  })
  await Instance.disposeAll()
})

test("a server that does not start is not in the registry", async () => {
  const registry = createMCPRegistry({ local: false })
  await assert.rejects(registry.servers.add(config("bad", tinyServer({ mode: "crash" }))), /no database/)
  assert.deepEqual(registry.servers.list(), [])
  await registry.close()
})

test("ToolRegistry.loadFromMCP() takes a client as it is, and its tools go through the gate", async () => {
  await using tmp = await tmpdir()
  const registry = createMCPRegistry({ local: false })
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const client = await registry.servers.add(config("tiny", tinyServer({ tools: [{ name: "one" }] })))
      assert.deepEqual(await ToolRegistry.loadFromMCP(client), [])
      const { signal } = new AbortController()
      const context = { sessionId: "s", messageId: "m", callId: "c", signal }
      const call = { id: "c", name: "tiny_one", arguments: {} }
      assert.equal((await runTool({ call, context })).refused, "permission")
      const allowed = await runTool({ call, context, slots: { permit: () => undefined } })
      assert.deepEqual([allowed.status, allowed.text], ["success", "one ran"])
    },
  })
  await registry.close()
  await Instance.disposeAll()
})
