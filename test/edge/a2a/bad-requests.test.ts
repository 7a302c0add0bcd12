// Requests that are not as they should be: each gets the protocol's own error or a clear refusal, and the server goes on.
import assert from "node:assert/strict"
import { test } from "node:test"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { serveA2A, type Wire, wire } from "./harness.ts"

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] }
const rpc = (method: string, params: unknown) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
const deep = `${'{"a":'.repeat(200)}1${"}".repeat(200)}`

/** What is sent, and the code of the error. */
const wrong: [what: string, body: string, code: number][] = [
  ["no JSON", "{", -32700],
  ["nothing", "", -32700],
  ["JSON that is nested too deep", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":${deep}}`, -32700],
  ["a list", "[]", -32600],
  ["a batch", `[${rpc("GetTask", { id: "x" })}]`, -32600],
  ["a number", "7", -32600],
  ["null", "null", -32600],
  ["no version of JSON-RPC", `{"id":1,"method":"GetTask","params":{"id":"x"}}`, -32600],
  ["an object as id", `{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{"id":"x"}}`, -32600],
  ["no method", `{"jsonrpc":"2.0","id":1,"params":{}}`, -32600],
  ["an unknown method", rpc("message/send", { message }), -32601],
  ["a method of every object", rpc("constructor", {}), -32601],
  ["params as a list", rpc("GetTask", ["x"]), -32602],
  ["params as a text", rpc("GetTask", "x"), -32602],
  ["no params at all", rpc("GetTask", null), -32602],
  ["half a message of history", rpc("ListTasks", { historyLength: 0.5 }), -32602],
  [
    "a message with a negative historyLength",
    rpc("SendMessage", { message, configuration: { historyLength: -1, returnImmediately: true } }),
    -32602,
  ],
  [
    "a stream with a historyLength that is no number",
    rpc("SendStreamingMessage", { message, configuration: { historyLength: "all" } }),
    -32602,
  ],
  ["no params", `{"jsonrpc":"2.0","id":1,"method":"GetTask"}`, -32602],
  ["no message", rpc("SendMessage", {}), -32602],
  ["a text as message", rpc("SendMessage", { message: "go" }), -32602],
  ["parts that are no objects", rpc("SendMessage", { message: { ...message, parts: [null] } }), -32602],
  ["no parts", rpc("SendMessage", { message: { ...message, parts: [] } }), -32602],
  ["a part without content", rpc("SendMessage", { message: { ...message, parts: [{}] } }), -32602],
  ["only blanks", rpc("SendMessage", { message: { ...message, parts: [{ text: " \n" }] } }), -32602],
  [
    "more than 1,000 parts",
    rpc("SendMessage", { message: { ...message, parts: Array(1_001).fill({ text: "a" }) } }),
    -32602,
  ],
  ["a giant messageId", rpc("SendMessage", { message: { ...message, messageId: "m".repeat(201) } }), -32602],
  ["no messageId", rpc("SendMessage", { message: { ...message, messageId: "" } }), -32602],
  ["a message of an agent", rpc("SendMessage", { message: { ...message, role: "ROLE_AGENT" } }), -32602],
  ["an unknown role", rpc("SendMessage", { message: { ...message, role: "boss" } }), -32602],
  [
    "a giant contextId",
    rpc("SendMessage", { message: { ...message, contextId: "c".repeat(9_999) } }),
    -32602,
  ],
  [
    "an unknown skill",
    rpc("SendMessage", { message: { ...message, metadata: { skill: "__proto__" } } }),
    -32602,
  ],
  [
    "a media type that is not supported",
    rpc("SendMessage", { message: { ...message, parts: [{ raw: "dGNr", mediaType: "application/x-tck" }] } }),
    -32005,
  ],
  [
    "bytes without a media type",
    rpc("SendMessage", { message: { ...message, parts: [{ raw: "dGNr" }] } }),
    -32005,
  ],
  ["an unknown task", rpc("GetTask", { id: "task_nobody" }), -32001],
  ["a path as task", rpc("GetTask", { id: "../../session/x" }), -32001],
  ["an empty task", rpc("GetTask", { id: " " }), -32602],
  ["a message to an unknown task", rpc("SendMessage", { message: { ...message, taskId: "nobody" } }), -32001],
  [
    "a stream to an unknown task",
    rpc("SendStreamingMessage", { message: { ...message, taskId: "nobody" } }),
    -32001,
  ],
  ["a subscription to an unknown task", rpc("SubscribeToTask", { id: "nobody" }), -32001],
  ["the end of an unknown task", rpc("CancelTask", { id: "nobody" }), -32001],
  [
    "push for an unknown task",
    rpc("CreateTaskPushNotificationConfig", { taskId: "nobody", url: "https://example.com" }),
    -32001,
  ],
  ["a page of 0", rpc("ListTasks", { pageSize: 0 }), -32602],
  ["a page of 101", rpc("ListTasks", { pageSize: 101 }), -32602],
  ["a cursor of nobody", rpc("ListTasks", { pageToken: "x" }), -32602],
  ["an unknown state", rpc("ListTasks", { status: "SLEEPING" }), -32602],
  ["a time that is none", rpc("ListTasks", { statusTimestampAfter: "soon" }), -32602],
]

test("wrong requests get the errors of JSON-RPC and of the protocol", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  for (const [what, body, code] of wrong) {
    const response = await served.fetch(`${served.url}/a2a`, { method: "POST", headers: wire, body })
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/, what)
    const answer = (await response.json()) as Wire
    assert.equal(answer.error?.code, code, `${what}: ${JSON.stringify(answer)}`)
    assert.equal(answer.jsonrpc, "2.0")
    assert.equal(answer.id, [-32700, -32600].includes(code) ? null : 1, what)
    assert.doesNotMatch(answer.error.message, /\n\s+at |Cannot read prop/, what)
  }
  assert.equal((await served.rpc("ListTasks", {})).result.totalSize, 0, "no wrong message began a task")
  assert.equal(llm.requests.length, 0)
  assert.equal(
    (await served.rpc("SendMessage", { message })).result.task.status.state,
    "TASK_STATE_COMPLETED",
  )
})

test("a version other than 1.0 is refused; the third number does not count", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  for (const version of ["99.0", "0.3", "", "1", "1.1", "x"]) {
    const { error } = await served.rpc("SendMessage", { message }, { "a2a-version": version })
    assert.equal(error?.code, -32009, version)
    assert.equal(error?.data?.[0].reason, "VERSION_NOT_SUPPORTED")
  }
  const { "a2a-version": _, ...without } = wire
  const body = rpc("SendMessage", { message })
  const response = await served.fetch(`${served.url}/a2a`, { method: "POST", headers: without, body })
  assert.equal(((await response.json()) as Wire).error.code, -32009)
  assert.equal(llm.requests.length, 0)
  assert.ok((await served.rpc("SendMessage", { message }, { "a2a-version": "1.0.7" })).result)
})

test("the token, the Host and the Origin are checked as for every route", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const url = `${served.url}/a2a`
  const body = rpc("SendMessage", { message })
  const post = (headers: Record<string, string>) =>
    fetch(url, { method: "POST", headers: { ...wire, ...headers }, body })
  const none = await post({})
  assert.deepEqual([none.status, none.headers.get("www-authenticate")], [401, "Bearer"])
  assert.equal((await post({ authorization: "Bearer wrong" })).status, 401)
  assert.equal(
    (await post({ authorization: `Bearer ${served.token}`, origin: "https://evil.example" })).status,
    403,
  )
  assert.equal((await served.fetch(url)).status, 405)
  const card = `${served.url}/.well-known/agent-card.json`
  assert.equal((await fetch(card, { headers: { origin: "https://evil.example" } })).status, 403)
  assert.equal((await fetch(card)).status, 200)
  assert.equal(llm.requests.length, 0)
})

test("a giant request is refused with 413, and one of another type with 415", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const url = `${served.url}/a2a`
  const giant = rpc("SendMessage", { message: { ...message, parts: [{ text: "x".repeat(11 << 20) }] } })
  assert.equal((await served.fetch(url, { method: "POST", headers: wire, body: giant })).status, 413)
  let sent = 0
  const chunks = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode("x".repeat(1 << 20)))
      if (++sent === 32) controller.close()
    },
  })
  const streamed = await served
    .fetch(url, { method: "POST", headers: wire, body: chunks, duplex: "half" } as RequestInit)
    .then(
      ({ status }) => status,
      () => "cut off",
    )
  assert.ok([413, "cut off"].includes(streamed), String(streamed))
  const headers = { ...wire, "content-type": "text/plain" }
  const other = await served.fetch(url, { method: "POST", headers, body: rpc("SendMessage", { message }) })
  assert.equal(other.status, 415)
  assert.equal(((await other.json()) as Wire).error.code, -32005)
  assert.equal(llm.requests.length, 0)
  assert.ok((await served.rpc("SendMessage", { message })).result)
})
