// Servers over HTTP with server-sent events, the older transport, as `.mcp.json` files of other tools name them.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { everythingOver, mcpJson } from "../servers.ts"

test('the command uses a server of type "sse"', async () => {
  await using tmp = await tmpdir({ git: true })
  await using everything = await everythingOver("sse", tmp)
  tmp.write(".mcp.json", mcpJson({ everything: everything.server }))
  await vitamin(tmp, ["trust", "--yes"])
  const tested = await vitamin(tmp, ["mcp", "test", "everything"])
  assert.deepEqual([tested.code, tested.err], [0, ""])
  assert.match(tested.out, /everything +connected .*16 tools/)
  await using llm = await fakeLlm([call("everything_echo", { message: "over the old way" }), text("Done.")])
  const ran = await vitamin(tmp, ["run", "--allow", "mcp.call", "echo"], env(llm, "chat").variables)
  assert.equal(ran.code, 0, ran.err)
  assert.match(llm.requests[1]!.messages.at(-1)!.results[0]!.text, /over the old way/)
})

test("when the stream of an sse server ends, its calls fail and the next one connects anew", async () => {
  await using tmp = await tmpdir()
  const first = await everythingOver("sse", tmp)
  const client = createMCPClient({
    server: { id: "old", name: "old", transport: "sse", url: first.server.url },
  })
  try {
    const before = await client.callTool("echo", { message: "one" })
    assert.match(JSON.stringify(before.content), /one/)
    const hanging = client.callTool("trigger-long-running-operation", { duration: 60, steps: 2 })
    hanging.catch(() => {})
    await client.listPrompts()
    await first[Symbol.asyncDispose]()
    await assert.rejects(hanging, { name: /^MCP\./ })
    await assert.rejects(client.callTool("echo", { message: "two" }), { name: /^MCP\./ })
    await using _ = await everythingOver("sse", tmp, first.port)
    const after = await client.callTool("echo", { message: "three" })
    assert.match(JSON.stringify(after.content), /three/)
  } finally {
    await client.close()
    await first[Symbol.asyncDispose]()
  }
})

test("an sse server cannot send requests, and with them its token, to another origin", async () => {
  await using tmp = await tmpdir()
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write("event: endpoint\ndata: http://127.0.0.2:1/message\n\n")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
  const auth = { type: "bearer" as const, token: "secret-of-sse" }
  const client = createMCPClient({ server: { id: "old", name: "old", transport: "sse", url, auth } })
  try {
    await assert.rejects(client.listTools(), /origin/)
    assert.deepEqual([...new Set(seen)], ["GET /sse"])
  } finally {
    await client.close()
    server.close()
    server.closeAllConnections()
    await tmp[Symbol.asyncDispose]()
  }
})
