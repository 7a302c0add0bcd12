// Answers that never end, or have one message of 100 MB: dropped with a clear error, in every wire form, in little memory.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { test } from "node:test"
import { gzipSync } from "node:zlib"
import { vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, wires } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const megabyte = 1 << 20
const reporter = new URL("../../../fixture/memory.ts", import.meta.url).href

/** A provider on loopback that answers every request with `answer`, and counts them. */
async function provider(answer: (response: ServerResponse) => unknown) {
  let requests = 0
  const server = createServer((incoming, response) => {
    requests++
    incoming.resume()
    response.on("error", () => {})
    void answer(response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function runWith(tmp: Tmp, variables: Record<string, string>) {
  const file = join(tmp.path, "..", "memory")
  const watched = { NODE_OPTIONS: `--import=${reporter}`, VITAMIN_TEST_MEMORY: file }
  const { code, err } = await vitamin(tmp, ["run", "hello"], { ...variables, ...watched })
  return { code, err, memory: Number(readFileSync(file, "utf8")) }
}

async function writeLong(response: ServerResponse, start: string) {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(start)
  const parts = Array.from({ length: 100 }, () => Buffer.alloc(megabyte, "a"))
  await pipeline(parts, response).catch(() => {})
}

for (const wire of wires) {
  test(`a message of 100 MB is refused over ${wire}, once and in little memory`, async () => {
    await using llm = await provider((response) => writeLong(response, 'data: {"x":"'))
    await using tmp = await tmpdir({ git: true })
    const { code, err, memory } = await runWith(tmp, env(llm, wire).variables)
    assert.equal(code, 1)
    assert.match(err, /Provider "\w+" sent a message of more than 16 MB/)
    assert.equal(llm.requests(), 1)
    assert.ok(memory < 300, `${memory} MB`)
  })

  test(`an error page of 100 MB is refused over ${wire} in little memory`, async () => {
    await using llm = await provider((response) => {
      response.writeHead(400, { "content-type": "application/json", "content-encoding": "gzip" })
      response.end(gzipSync(Buffer.alloc(100 * megabyte, "a")))
    })
    await using tmp = await tmpdir({ git: true })
    const { code, err, memory } = await runWith(tmp, env(llm, wire).variables)
    assert.equal(code, 1)
    assert.ok(err.length < 3_000, err.slice(0, 3_000))
    assert.ok(memory < 300, `${memory} MB`)
  })
}

test("an answer that never ends is stopped at 8 million characters", async () => {
  const chunk = { choices: [{ delta: { content: "a".repeat(60_000) } }] }
  const events = Array.from({ length: 1_000 }, () => `data: ${JSON.stringify(chunk)}\n\n`)
  await using llm = await provider(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    await pipeline(events, response).catch(() => {})
  })
  await using tmp = await tmpdir({ git: true })
  const { code, err, memory } = await runWith(tmp, env(llm, "chat").variables)
  assert.equal(code, 1)
  assert.match(err, /answer was stopped: it has more than 8 million characters/)
  assert.equal(llm.requests(), 1)
  assert.ok(memory < 400, `${memory} MB`)
})

test("an answer with more than 256 tool calls is stopped, and none of them runs", async () => {
  const many = Array.from({ length: 257 }, (_, i) => call("write", { path: `f${i}`, content: "" }))
  await using llm = await fakeLlm([calls(many)])
  await using tmp = await tmpdir({ git: true })
  const { code, err } = await vitamin(tmp, ["run", "--yes", "hello"], env(llm, "chat").variables)
  assert.equal(code, 1)
  assert.match(err, /answer was stopped: it has more than 256 tool calls/)
  assert.deepEqual(readdirSync(tmp.path).sort(), [".git", "README.md"])
})

test("a long error message of a provider is cut", async () => {
  await using llm = await provider((response) => {
    response.writeHead(400, { "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message: "x".repeat(900_000) } }))
  })
  await using tmp = await tmpdir({ git: true })
  const { code, err } = await runWith(tmp, env(llm, "chat").variables)
  assert.equal(code, 1)
  assert.ok(err.length < 3_000, `${err.length}`)
})
