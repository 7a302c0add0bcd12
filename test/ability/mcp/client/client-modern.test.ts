import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import type { MCPClientConfig } from "#ability/mcp/server/types.ts"

test("a server of the revision 2026-07-28 is used in that revision", async () => {
  await using client = clientOf({})
  assert.equal((await client.connect()).protocol, "2026-07-28")
  const { content } = await client.callTool("add", { a: 2, b: 3 })
  assert.deepEqual(content, [{ type: "text", text: "5" }])
  assert.deepEqual(await client.readResource("note://one"), [{ uri: "note://one", text: "1" }])
})

test("its questions come with the result, and the call continues with the answer", async () => {
  await using client = clientOf({
    onElicit: async (request) => {
      assert.equal(request.message, "Who are you?")
      return { action: "accept", content: { name: "Ada" } }
    },
  })
  const { content } = await client.callTool("ask")
  assert.deepEqual(content, [{ type: "text", text: "hello Ada" }])
})

test("changes of its lists and resources are reported", async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  await using client = clientOf({ onChanged: resolve })
  const before = (await client.listTools()).length
  await client.callTool("grow")
  assert.equal(await promise, "tools")
  assert.equal((await client.listTools()).length, before + 1)

  const updates = client.subscribe("note://one")[Symbol.asyncIterator]()
  let told = false
  const first = updates.next().finally(() => {
    told = true
  })
  // The server is asked to tell in the meantime; before that it says nothing.
  while (!told) await client.callTool("touch")
  assert.deepEqual(await first, { value: { uri: "note://one" }, done: false })
  await updates.return?.()
})

function clientOf(config: Omit<MCPClientConfig, "server">) {
  const client = createMCPClient({
    ...config,
    server: {
      id: "modern",
      name: "modern",
      transport: "stdio",
      command: [process.execPath, join(import.meta.dirname, "../../../fixture/mcp/modern.ts")],
    },
  })
  return { ...client, [Symbol.asyncDispose]: client.close }
}
