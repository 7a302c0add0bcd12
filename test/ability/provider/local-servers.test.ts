// Model servers on loopback, real ones on free ports; what listens on the usual ports of this machine plays no part.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { findLocalServers, localPlaces } from "#ability/provider/local-servers.ts"
import * as Provider from "#ability/provider/provider.ts"
import { connect } from "#ability/provider/reach/connection.ts"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { inInstance, partsOf, textOf } from "./harness.ts"

/** Patience for a loaded machine; the product gives them 50 ms. */
const patience = { connect: 20_000, answer: 20_000 }

async function serve(listener: RequestListener) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    listener(request, response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

function json(value: unknown): RequestListener {
  return (_, response) =>
    void response
      .setHeader("content-type", "application/json")
      .end(typeof value === "string" ? value : JSON.stringify(value))
}

const list = (...ids: unknown[]) => json({ object: "list", data: ids.map((id) => ({ id, object: "model" })) })
const tags = (...names: string[]) => json({ models: names.map((name) => ({ name, model: name })) })

test("findLocalServers() asks each server in its own API and lists the models that can chat", async () => {
  await using ollama = await serve(tags("nomic-embed-text:latest", "tinyllama:1b", "qwen2.5-coder:7b"))
  await using vllm = await serve(list("BAAI/bge-m3", "mistralai/Mistral-7B"))
  const found = await findLocalServers(
    [
      { providerId: "ollama", baseURLs: [ollama.baseURL] },
      { providerId: "vllm", baseURLs: [vllm.baseURL] },
    ],
    patience,
  )
  assert.deepEqual(found, [
    {
      providerId: "ollama",
      baseURL: ollama.baseURL,
      models: ["tinyllama:1b", "qwen2.5-coder:7b"],
      model: "qwen2.5-coder:7b",
    },
    {
      providerId: "vllm",
      baseURL: vllm.baseURL,
      models: ["mistralai/Mistral-7B"],
      model: "mistralai/Mistral-7B",
    },
  ])
  assert.deepEqual([ollama.paths, vllm.paths], [["/api/tags"], ["/v1/models"]])
})

for (const [says, ids, chosen] of [
  ["the first model if no name is known", ["b", "a"], "b"],
  ["a coder before an instruct model", ["x-instruct", "y", "deepseek-coder"], "deepseek-coder"],
  ["an instruct model before others", ["base-7b", "foo-7b-Instruct"], "foo-7b-Instruct"],
  ["no model if all are for embedding", ["text-embedding-nomic", "all-MiniLM-L6"], undefined],
  ["no model with control characters in its name", ["evil\u001b[2J", "fine"], "fine"],
] as const)
  test(`findLocalServers() takes ${says}`, async () => {
    await using server = await serve(list(...ids))
    const [found] = await findLocalServers([{ providerId: "lmstudio", baseURLs: [server.baseURL] }], patience)
    assert.equal(found?.model, chosen)
  })

for (const [what, listener] of [
  ["a page", (_, response) => response.setHeader("content-type", "text/html").end("<html>")],
  ["another JSON", json({ status: "ok" })],
  ["a list of something else", json({ object: "list", data: [{ name: "x" }] })],
  ["JSON null", json("null")],
  ["broken JSON", json('{"object":"list","data":[')],
  ["an error", (_, response) => response.writeHead(401, { "content-type": "application/json" }).end("{}")],
  ["a redirect", (_, response) => response.writeHead(302, { location: "/v1/models2" }).end()],
  ["more than a list of models can be", json(`{"object":"list","data":[],"x":"${"y".repeat(2 << 20)}"}`)],
  ["a connection that breaks", (request) => request.socket.destroy()],
] as [string, RequestListener][])
  test(`findLocalServers() does not take ${what} for a model server`, async () => {
    await using server = await serve(listener)
    const found = await findLocalServers([{ providerId: "llamacpp", baseURLs: [server.baseURL] }], patience)
    assert.deepEqual(found, [])
    assert.equal(server.paths.length, 1)
  })

test("findLocalServers() does not wait for a server that says nothing", async () => {
  await using silent = await serve(() => {})
  await using halfway = await serve((_, response) => {
    response.setHeader("content-type", "application/json").write('{"object":')
  })
  const places = [silent, halfway].map(({ baseURL }) => ({ providerId: "llamacpp", baseURLs: [baseURL] }))
  assert.deepEqual(await findLocalServers(places), [])
})

test("findLocalServers() finds a server although this process is busy for longer than the time limits", async () => {
  await using ollama = await serve(tags("qwen2.5-coder:7b"))
  // After this, Node looks at timers before it looks at connections.
  await new Promise(setImmediate)
  const finding = findLocalServers([{ providerId: "ollama", baseURLs: [ollama.baseURL] }], {
    connect: 50,
    answer: 20_000,
  })
  // The connection is under way, and its time is up before it can be noticed.
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => process.nextTick(resolve))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  assert.deepEqual(
    (await finding).map(({ model }) => model),
    ["qwen2.5-coder:7b"],
  )
})

test("findLocalServers() finds nothing on a closed port, and uses the address that answers", async () => {
  await using server = await serve(list("a"))
  const dead = "http://127.0.0.1:1/v1"
  assert.deepEqual(await findLocalServers([{ providerId: "vllm", baseURLs: [dead] }], patience), [])
  const both = [{ providerId: "vllm", baseURLs: [dead, server.baseURL] }]
  assert.equal((await findLocalServers(both, patience))[0]?.baseURL, server.baseURL)
})

test("localPlaces() returns both loopback addresses, or the configured one if it is local", async () => {
  await inInstance({}, () => {
    const places = localPlaces({})
    assert.deepEqual(
      places.map(({ providerId, baseURLs }) => [providerId, ...baseURLs]),
      [
        ["ollama", "http://127.0.0.1:11434/v1", "http://[::1]:11434/v1"],
        ["lmstudio", "http://127.0.0.1:1234/v1", "http://[::1]:1234/v1"],
        ["llamacpp", "http://127.0.0.1:8080/v1", "http://[::1]:8080/v1"],
        ["vllm", "http://127.0.0.1:8000/v1", "http://[::1]:8000/v1"],
      ],
    )
    const given = localPlaces({ provider: { vllm: { baseURL: "https://gpu.example.com/v1" } } })
    assert.deepEqual(given[3]?.baseURLs, [])
  })
  for (const [said, base] of [
    ["127.0.0.1:5000", "http://127.0.0.1:5000/v1"],
    ["0.0.0.0", "http://127.0.0.1:11434/v1"],
    [":5000", "http://127.0.0.1:5000/v1"],
    ["http://localhost:5000/", "http://localhost:5000/v1"],
    ["localhost", "http://localhost:11434/v1"],
    ["gpu.example.com", undefined],
    ["%%", "http://127.0.0.1:11434/v1"],
  ] as const)
    await inInstance({ variables: { OLLAMA_HOST: said } }, () =>
      assert.equal(localPlaces({})[0]?.baseURLs[0], base, said),
    )
})

test("a model at OLLAMA_HOST can be listed and talked to", async () => {
  await using llm = await fakeLlm([text("hello")])
  await inInstance({ variables: { ...noServers, OLLAMA_BASE_URL: "", OLLAMA_HOST: llm.url } }, async () => {
    const model = await Provider.getModel("ollama", "anything:7b")
    assert.equal(textOf(await partsOf(model)), "hello")
    assert.equal(llm.requests[0]?.path, "/v1/chat/completions")
    assert.deepEqual(await Provider.localModels(), [])
  })
  await using server = await serve(tags("anything:7b"))
  const variables = { ...noServers, OLLAMA_BASE_URL: "", OLLAMA_HOST: `127.0.0.1:${server.port}` }
  await inInstance({ variables }, async () => {
    const places = localPlaces({})
    const [found] = await findLocalServers(places, patience)
    assert.deepEqual([found?.providerId, found?.model], ["ollama", "anything:7b"])
  })
})

test("connect() uses the address of a found server, unless one is configured", async () => {
  const found = "http://[::1]:11434/v1"
  const settings = { baseURL: "http://127.0.0.1:9/v1" }
  await inInstance({}, () => {
    assert.equal(connect({ id: "vllm", settings: {}, found }).baseURL, found)
    assert.equal(connect({ id: "vllm", settings, found }).baseURL, settings.baseURL)
  })
})
