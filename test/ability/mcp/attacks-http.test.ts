// Attacks over HTTP: streams without an end, and strangers at the port that waits for a login.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { text } from "node:stream/consumers"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { openCallback } from "#kernel/login/open-callback.ts"

const megabyte = "a".repeat(1 << 20)

test("an event without an end is given up at the limit of a message, however many lines it has", async () => {
  let lines = 0
  await using server = await serverWith(async (response) => {
    for (; lines < 200 && !response.destroyed; lines++) {
      const isFull = !response.write(`data: ${megabyte}\n`)
      if (isFull) await Promise.race([once(response, "drain"), once(response, "close")])
    }
  })
  await assert.rejects(server.client.callTool("good"))
  assert.ok(lines < 100, `${lines} lines were taken`)
})

test("a stream may be longer than a message, as long as no event is", async () => {
  await using server = await serverWith(async (response, id) => {
    for (let n = 0; n < 40; n++) response.write(`: ${megabyte}\r\n\r\n`)
    const answer = { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "fine" }] } }
    response.end(`data: ${JSON.stringify(answer)}\n\n`)
  })
  assert.deepEqual((await server.client.callTool("good")).content, [{ type: "text", text: "fine" }])
})

test("the login port answers an invalid URL with 404", async () => {
  const over = new AbortController()
  await using callback = await openCallback(over.signal)
  const answer = callback.answer("word")
  const { port } = new URL(callback.url)
  const socket = connect(Number(port), "127.0.0.1")
  socket.write("GET // HTTP/1.1\r\nHost: localhost\r\n\r\n")
  assert.match(await text(socket), /^HTTP\/1\.1 404 /)
  await (await fetch(`${callback.url}?state=word&code=c1`)).text()
  assert.deepEqual(await answer, { code: "c1" })
  over.abort()
})

/** A server of the revision of 2025 whose calls are answered by a stream. */
async function serverWith(stream: (response: ServerResponse, id: number) => Promise<void>) {
  const http = createServer(async (request, response) => {
    const { id, method } = JSON.parse((await text(request)) || "{}")
    if (request.method !== "POST") return void response.writeHead(405).end()
    if (id === undefined) return void response.writeHead(202).end()
    if (method === "tools/call") {
      response.writeHead(200, { "content-type": "text/event-stream" })
      return stream(response, id)
    }
    const info = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } }
    const answer =
      method === "initialize" ? { result: info } : { error: { code: -32_601, message: "not here" } }
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }))
  }).listen(0, "127.0.0.1")
  await once(http, "listening")
  const { port } = http.address() as AddressInfo
  const client = createMCPClient({
    server: { id: "s", name: "s", transport: "http", url: `http://127.0.0.1:${port}/mcp` },
  })
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      http.closeAllConnections()
      http.close()
    },
  }
}
