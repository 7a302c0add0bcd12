// A request and its answer over a real socket: pieces, compression, connections that were closed meanwhile.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, globalAgent, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import type { Readable } from "node:stream"
import { test } from "node:test"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { post } from "#ability/provider/chat/post.ts"

const setting = "provider.test.baseURL"
const headers = { "content-type": "application/json", authorization: "Bearer key" }
const body = ["[", "1", "]"].map((text) => Buffer.from(text))

async function serverOf(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function textOf(stream: Readable): Promise<string> {
  let text = ""
  for await (const part of stream) text += String(part)
  return text
}

/** What it was sent, as its answer. */
const echo: RequestListener = async (request, response) => {
  const said = await textOf(request)
  const { authorization = "none", "content-length": length } = request.headers
  response.writeHead(200, "Fine", { "x-one": "1" }).end(`${request.url} ${authorization} ${length} ${said}`)
}

test("post() sends its pieces as one body and gives the answer", async () => {
  await using server = await serverOf(echo)
  const reply = await post({ url: `${server.url}/a?b=c`, headers, body, setting })
  assert.deepEqual([reply.status, reply.statusText, reply.headers["x-one"]], [200, "Fine", "1"])
  assert.equal(await textOf(reply.body), "/a?b=c Bearer key 3 [1]")
})

test("post() sends many large pieces whole", async () => {
  await using server = await serverOf(async (request, response) => {
    let size = 0
    for await (const part of request) size += part.length
    response.end(String(size))
  })
  const pieces = Array.from({ length: 3_000 }, (_, i) => Buffer.alloc(i))
  const { body } = await post({ url: server.url, headers, body: pieces, setting })
  assert.equal(await textOf(body), String((3_000 * 2_999) / 2))
})

test("post() reads an answer that is compressed without a request for it", async () => {
  const forms = { gzip: gzipSync("hello"), br: brotliCompressSync("hello"), identity: Buffer.from("hello") }
  for (const [encoding, bytes] of Object.entries(forms)) {
    await using server = await serverOf((_, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes)
    })
    assert.equal(await textOf((await post({ url: server.url, headers, body, setting })).body), "hello")
  }
})

test("post() repeats a request if a reused connection is closed at that moment", async () => {
  let requests = 0
  await using server = await serverOf((request, response) => {
    // The second one finds the connection of the first and is cut off before a word.
    if (++requests === 2) request.socket.destroy()
    else echo(request, response)
  })
  const said = async () => textOf((await post({ url: server.url, headers, body, setting })).body)
  await said()
  const kept = () =>
    Object.keys(globalAgent.freeSockets).some((name) => server.url.includes(`:${name.split(":")[1]}`))
  while (!kept()) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await said(), "/ Bearer key 3 [1]")
  assert.equal(requests, 3)
})

test("post() throws errors of the network, and the reason of an abort", async () => {
  const { url, server } = await serverOf(echo)
  const silent = await serverOf(() => {})
  server.close()
  await once(server, "close")
  await assert.rejects(post({ url, headers, body, setting }), { code: "ECONNREFUSED" })
  const reason = new Error("enough")
  await assert.rejects(post({ url, headers, body, setting, signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  silent.server.on("request", () => controller.abort(reason))
  await assert.rejects(post({ url: silent.url, headers, body, setting, signal: controller.signal }), {
    code: "ECONNRESET",
  })
  await silent[Symbol.asyncDispose]()
})
