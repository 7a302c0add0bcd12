// The requirements of the public test suite for A2A servers (a2aproject/a2a-tck), by their ids, over raw JSON-RPC. Those
// about agents without streaming, push or an extended card, about signed cards, and about other bindings do not apply.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { type Served, serveA2A, type Wire, wire } from "./harness.ts"

let served: Served
const ending = new AsyncDisposableStack()

before(async () => {
  const tmp = ending.use(await tmpdir({ git: true }))
  const llm = ending.use(
    await fakeLlm(({ body }) => {
      const words = JSON.stringify(body)
      const isAnswered = /"role":"tool"/.test(words)
      return /please run/.test(words) && !isAnswered ? call("bash", { command: "true" }) : text("Done.")
    }),
  )
  served = ending.use(await serveA2A(tmp, { env: env(llm, "chat").variables }))
})
after(() => ending.disposeAsync())

const say = (words: string, more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: "ROLE_USER",
  parts: [{ text: words }],
  ...more,
})
const send = async (words: string, more: object = {}, configuration?: object) =>
  served.rpc("SendMessage", { message: say(words, more), ...(configuration ? { configuration } : {}) })
const done = async () => (await send("hello")).result.task
const asking = async () => (await send("please run")).result.task

test("CORE-SEND-001 SendMessage returns a task", async () => {
  const task = await done()
  assert.equal(task.status.state, "TASK_STATE_COMPLETED")
})
test("CORE-SEND-002 a message to a task that has ended is refused", async () => {
  const { id } = await done()
  assert.equal((await send("more", { taskId: id })).error?.code, -32004)
})
test("CORE-SEND-003 an unsupported media type is refused", async () => {
  const parts = [{ raw: "dGNr", mediaType: "application/x-unsupported-tck-type" }]
  assert.equal((await send("", { parts })).error?.code, -32005)
})
test("CORE-STREAM-001 CORE-STREAM-003 JSONRPC-SSE-001 a stream begins with the task and closes at its end", async () => {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 7,
    method: "SendStreamingMessage",
    params: { message: say("hello") },
  })
  const response = await served.fetch(`${served.url}/a2a`, { method: "POST", headers: wire, body })
  assert.match(response.headers.get("content-type")!, /^text\/event-stream/)
  const events = (await response.text())
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => JSON.parse(event.slice(6)))
  assert.ok(events.every(({ id, jsonrpc }) => id === 7 && jsonrpc === "2.0"))
  assert.ok(events[0].result.task.id)
  assert.equal(events.at(-1).result.statusUpdate.status.state, "TASK_STATE_COMPLETED")
})
test("CORE-GET-001 GetTask returns status, result and history", async () => {
  const { id } = await done()
  const { result } = await served.rpc("GetTask", { id })
  assert.equal(result.artifacts[0].parts[0].text, "Done.")
  assert.equal(result.history[0].parts[0].text, "hello")
})
test("CORE-GET-002 CORE-CANCEL-003 STREAM-SUB-004 CORE-MULTI-004 an unknown task is not found", async () => {
  for (const method of ["GetTask", "CancelTask", "SubscribeToTask"])
    assert.equal((await served.rpc(method, { id: "nonexistent" })).error?.code, -32001, method)
  assert.equal((await send("x", { taskId: "nonexistent" })).error?.code, -32001)
})
test("CORE-LIST-002 CORE-LIST-003 CORE-LIST-004 lists are pages, the last changed first, and the last page has an empty token", async () => {
  for (let i = 0; i < 3; i++) await done()
  const times: string[] = []
  let token = ""
  do {
    const { result } = await served.rpc("ListTasks", { pageSize: 2, pageToken: token })
    assert.ok(result.tasks.length <= 2)
    assert.equal(typeof result.nextPageToken, "string")
    times.push(...result.tasks.map(({ status }: Wire) => status.timestamp))
    token = result.nextPageToken
  } while (token)
  assert.deepEqual(times, times.toSorted().reverse())
})
test("CORE-LIST-005 results are left out unless they are asked for", async () => {
  const { id } = await done()
  const list = async (more: object) =>
    (await served.rpc("ListTasks", more)).result.tasks.find((task: Wire) => task.id === id)
  assert.equal("artifacts" in (await list({})), false)
  assert.equal((await list({ includeArtifacts: true })).artifacts.length, 1)
})
test("CORE-CANCEL-001 CORE-CANCEL-002 a waiting task is canceled, and only once", async () => {
  const { id } = await asking()
  assert.equal((await served.rpc("CancelTask", { id })).result.status.state, "TASK_STATE_CANCELED")
  assert.equal((await served.rpc("CancelTask", { id })).error?.code, -32002)
})
test("CORE-EXECUTION-MODE-001 SendMessage waits until the task ends or waits for input", async () => {
  assert.equal((await asking()).status.state, "TASK_STATE_INPUT_REQUIRED")
})
test("CORE-EXECUTION-MODE-002 with returnImmediately it does not wait", async () => {
  const { result } = await send("please run", {}, { returnImmediately: true })
  assert.match(result.task.status.state, /SUBMITTED|WORKING/)
})
test("CORE-MULTI-001a CORE-MULTI-003 the server makes a contextId, and an id for each task", async () => {
  const [first, second] = [await done(), await done()]
  assert.ok(first.contextId)
  assert.notEqual(first.id, second.id)
  assert.notEqual(first.contextId, second.contextId)
})
test("CORE-MULTI-002 a contextId of the client is kept", async () => {
  const { result } = await send("hello", { contextId: "client/context 1 ✓" })
  assert.equal(result.task.contextId, "client/context 1 ✓")
})
test("CORE-MULTI-005 the context is that of the task", async () => {
  const { id, contextId } = await asking()
  assert.equal((await send("reject", { taskId: id })).result.task.contextId, contextId)
})
test("CORE-MULTI-006 another context than that of the task is refused", async () => {
  const { id } = await asking()
  assert.equal((await send("once", { taskId: id, contextId: "other" })).error?.code, -32602)
})
test("CORE-HIST-001 CORE-HIST-002 CORE-HIST-003 historyLength limits the messages", async () => {
  const { id } = await asking()
  const get = async (historyLength: number) =>
    (await served.rpc("GetTask", { id, historyLength })).result.history ?? []
  assert.equal((await get(0)).length, 0)
  assert.equal((await get(1)).length, 1)
  assert.equal((await send("hello", {}, { historyLength: 0 })).result.task.history, undefined)
})
test("CORE-HIST-005 CORE-HIST-006 the history has the messages as they were, in order", async () => {
  const { id } = await asking()
  const { history } = (await send("not now", { taskId: id })).result.task
  assert.deepEqual(
    history.map(({ role }: Wire) => role),
    ["ROLE_USER", "ROLE_AGENT", "ROLE_USER"],
  )
  assert.deepEqual([history[0].parts[0].text, history[2].parts[0].text], ["please run", "not now"])
})
test("STREAM-SUB-001 a subscription begins with the task", async () => {
  const { id } = await asking()
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } })
  const response = await served.fetch(`${served.url}/a2a`, { method: "POST", headers: wire, body })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const { value } = await reader.read()
  assert.equal(JSON.parse(value!.slice(6)).result.task.id, id)
  await reader.cancel()
})
test("STREAM-SUB-003 a task that has ended cannot be subscribed to", async () => {
  const { id } = await done()
  assert.equal((await served.rpc("SubscribeToTask", { id })).error?.code, -32004)
})
test("JSONRPC-SSE-002 errors carry their reason as google.rpc.ErrorInfo", async () => {
  const { error } = await served.rpc("GetTask", { id: "nonexistent" })
  assert.deepEqual(error?.data?.[0], {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "TASK_NOT_FOUND",
    domain: "a2a-protocol.org",
  })
})
test("CARD-DISC-001 CARD-PROTO-001 CARD-PROTO-002 CARD-STRUCT-001 the card has its required fields", async () => {
  const card = (await (await fetch(`${served.url}/.well-known/agent-card.json`)).json()) as Wire
  for (const field of ["name", "description", "version", "supportedInterfaces", "capabilities", "skills"])
    assert.ok(card[field], field)
  assert.ok(card.defaultInputModes.length && card.defaultOutputModes.length)
  for (const skill of card.skills) assert.ok(skill.id && skill.name && skill.description && skill.tags.length)
})
test("CARD-EXT-001 the extended card needs the token", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard" })
  assert.equal((await fetch(`${served.url}/a2a`, { method: "POST", headers: wire, body })).status, 401)
  const response = await served.fetch(`${served.url}/a2a`, { method: "POST", headers: wire, body })
  assert.match(((await response.json()) as Wire).result.description, /The folder/)
})
test("CARD-CACHE-001 CARD-CACHE-002 the card has Cache-Control and ETag", async () => {
  const { headers } = await fetch(`${served.url}/.well-known/agent-card.json`)
  assert.match(headers.get("cache-control")!, /max-age=\d+/)
  assert.ok(headers.get("etag"))
})
