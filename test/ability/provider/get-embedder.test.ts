// The configured embedder over a real socket, in the wire form of OpenAI's embeddings.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { getEmbedder } from "#ability/provider/get-embedder.ts"
import * as Log from "#kernel/process/log.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { inInstance } from "./harness.ts"

type Asked = { path: string; key: string | undefined; model: string; input: string[] }

async function serve(answer: (asked: Asked, response: ServerResponse) => void) {
  const requests: Asked[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const asked = { ...body, path: request.url!, key: request.headers.authorization }
    requests.push(asked)
    response.setHeader("content-type", "application/json")
    answer(asked, response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

const vectors = ({ input, model }: Asked, response: ServerResponse) =>
  void response.end(
    JSON.stringify({
      object: "list",
      model,
      data: input.map((text, index) => ({
        object: "embedding",
        index,
        embedding: [3, 4, 0, text.length ? 0 : 1],
      })),
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  )

const hasNone = (config: object) =>
  inInstance({ config }, async () => assert.equal(await getEmbedder(), undefined))

async function logged(fn: () => Promise<void>): Promise<string> {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  Log.setFile(file)
  await fn().finally(() => Log.setFile(undefined))
  return readFileSync(file, "utf8")
}

test("getEmbedder() returns the embedded model by default", () =>
  inInstance({}, async () => {
    const embedder = await getEmbedder()
    assert.equal(embedder?.id, "vitamin-embedded-1")
    assert.equal(await getEmbedder(), embedder)
  }))

test("getEmbedder() asks the configured model of a server", async () => {
  await using server = await serve(vectors)
  const config = {
    embedder: { model: "mine/some/embedder" },
    provider: { mine: { baseURL: server.baseURL, apiKey: "k-123" } },
  }
  await inInstance({ config }, async () => {
    const embedder = (await getEmbedder())!
    assert.equal(embedder.id, "mine/some/embedder:4")
    assert.equal(embedder.dimensions, 4)
    const [first, empty] = await embedder.embedBatch(["read a file", ""])
    assert.deepEqual(first, Float32Array.of(0.6, 0.8, 0, 0))
    assert.deepEqual(empty, new Float32Array(4))
    assert.equal(await getEmbedder(), embedder)
  })
  assert.deepEqual(
    server.requests.map(({ path, key, model, input }) => ({ path, key, model, input })),
    [["length"], ["read a file"]].map((input) => ({
      path: "/v1/embeddings",
      key: "Bearer k-123",
      model: "some/embedder",
      input,
    })),
  )
})

test("getEmbedder() returns undefined and logs it if the configured embedder cannot be used", async () => {
  await using refusing = await serve((_, response) => {
    response.statusCode = 404
    response.end(JSON.stringify({ error: { message: "no such model here" } }))
  })
  await using silent = await serve(
    (_, response) => void response.end(JSON.stringify({ object: "list", data: [] })),
  )
  const log = await logged(async () => {
    for (const { baseURL } of [refusing, silent])
      await hasNone({ embedder: { model: "mine/x" }, provider: { mine: { baseURL } } })
    for (const embedder of [{ model: "anthropic/x" }, { model: "nobody/x" }, { gguf: "missing.gguf" }])
      await hasNone({ embedder, provider: { anthropic: { apiKey: "k" } } })
  })
  for (const reason of [
    /no such model here/,
    /without a vector/,
    /no embedding models/,
    /"nobody\\?" does not exist/,
    /missing\.gguf/,
  ])
    assert.match(log, reason)
})

test("the configuration names one embedder, not two", () =>
  inInstance({ config: { embedder: { model: "a/b", gguf: "c" } } }, () =>
    assert.rejects(getEmbedder(), /name a model or a GGUF file, not both/),
  ))
