// A remote agent whose machine goes away without closing its connections.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { runRemoteTask } from "#ability/a2a/run-remote-task.ts"

type Call = { id: number; method: string }

/** A server that answers each call with the function of its method. */
async function remoteWith(methods: Record<string, (call: Call, response: ServerResponse) => void>) {
  const called: string[] = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const part of request) body += part
    if (request.method === "GET") return void response.end(JSON.stringify(card()))
    const call = JSON.parse(body) as Call
    called.push(call.method)
    methods[call.method]?.(call, response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const card = () => ({
    name: "far",
    description: "An agent.",
    version: "1",
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    skills: [],
  })
  return {
    url,
    called,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const order = (url: string) => ({
  remote: { name: "far", url },
  text: "hello",
  depth: 1,
  signal: new AbortController().signal,
  onTask: async () => {},
  onProgress: () => {},
  ask: async () => undefined,
})
const task = (state: string, text = "") => ({
  id: "t",
  contextId: "c",
  status: { state: `TASK_STATE_${state}` },
  artifacts: text ? [{ artifactId: "a", parts: [{ text }] }] : [],
})

test("a stream that falls silent is given up, and the task is asked for", { timeout: 60_000 }, async () => {
  await using far = await remoteWith({
    SendStreamingMessage({ id }, response) {
      response.setHeader("content-type", "text/event-stream")
      const result = { task: task("WORKING") }
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`)
    },
    GetTask: ({ id }, response) =>
      void response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ jsonrpc: "2.0", id, result: task("COMPLETED", "Done meanwhile.") })),
  })
  assert.equal(await runRemoteTask(order(far.url), { silence: 300 }), "Done meanwhile.")
  assert.deepEqual(far.called, ["SendStreamingMessage", "GetTask"])
})

test("an agent that never answers a message is an error", { timeout: 60_000 }, async () => {
  await using far = await remoteWith({})
  await assert.rejects(runRemoteTask(order(far.url), { silence: 300 }), {
    name: "A2A.RemoteFailed",
    message: /The remote agent "far" did not answer/,
  })
  assert.deepEqual(far.called, ["SendStreamingMessage"])
})
