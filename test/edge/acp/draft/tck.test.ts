// Requirements of the public compatibility kit of the protocol (acp-tck) for the draft of version 2, by their ids. Every
// message of these tests is checked against the schema of that version (ACP-SCHEMA-001, ACP-PROMPT-205, ACP-ENUM-201,
// ACP-ENUM-202, ACP-PATCH-201, ACP-PATCH-204, ACP-PATCH-205).
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { call, fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, connected, on, startDraft, withSession } from "./harness.ts"

const quiet = 200
const endless = () => stall(text("On and on.", { deltas: 9 }), 1_200)
const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`

test("ACP-INIT-001, ACP-INIT-201, ACP-INIT-203, ACP-INIT-204, ACP-AUTH-202 version 2 is negotiated, with a name and object markers", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp)
  const { protocolVersion, info, capabilities, authMethods } = acp.initialized
  assert.deepEqual([protocolVersion, info.name, authMethods], [2, "vitamin", undefined])
  assert.equal(JSON.stringify(capabilities).match(/true|false/), null)
})

test("ACP-INIT-202 a client of version 1 gets version 1, and its requests", async () => {
  await using tmp = await tmpdir()
  await using acp = startDraft(tmp)
  acp.write(line({ id: 1, method: "initialize", params: { protocolVersion: 1 } }))
  const { result } = JSON.parse(await acp.line(/"id":1/))
  assert.equal(result.protocolVersion, 1)
  // The answer is of version 1, which the schema of version 2 does not know.
  acp.lines.length = 0
})

test("ACP-AUTH-206, ACP-AUTH-207 a client with a terminal is offered the login there", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp, { capabilities: { auth: { terminal: {} } } })
  const [method] = acp.initialized.authMethods!
  assert.deepEqual([method!.type, (method as { args?: string[] }).args], ["terminal", ["--login"]])
  assert.deepEqual(await acp.agent.request(on.auth.login, { methodId: method!.methodId }), {})
})

test("ACP-SESSION-001, ACP-SESSION-002, ACP-SESSION-203, ACP-CONFIG-201, ACP-CONFIG-204 sessions open without mcpServers, with their options", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const other = await acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers: [] })
  assert.notEqual(other.sessionId, acp.sessionId)
  for (const option of acp.opened.configOptions!) {
    const { currentValue, options } = option as unknown as {
      currentValue: string
      options: { value: string }[]
    }
    assert.ok(options.some(({ value }) => value === currentValue))
  }
})

test("ACP-PROMPT-201, ACP-PROMPT-203, ACP-STATE-201, ACP-STATE-202, ACP-STATE-203, ACP-PATCH-203 a prompt is acknowledged with its message, runs, and ends idle", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello."), text("Again.")])
  await using acp = await withSession(tmp, { llm })
  const first = await acp.prompt("hello")
  const second = await acp.prompt("again")
  assert.notEqual(first.messageId, second.messageId)
  assert.deepEqual(
    acp.of("user_message").map(({ messageId }) => messageId),
    [first.messageId, second.messageId],
  )
  assert.deepEqual(
    acp.of("state_update").map(({ state }) => state),
    ["running", "idle", "running", "idle"],
  )
  assert.deepEqual([first.stopReason, second.stopReason], ["end_turn", "end_turn"])
})

test("ACP-PERM-201, ACP-PATCH-208, ACP-PATCH-209, ACP-CLIENTCAP-202 a question has a title and options, and the state says that it waits", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("todo", { todos: [{ text: "Write", status: "in_progress" }] }),
    call("write", { path: "a.txt", content: "x\n" }),
    text("Done."),
  ])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  await acp.prompt("write it")
  const [asked] = acp.permissions
  assert.match(asked!.title, /a\.txt/)
  assert.deepEqual(
    acp.of("state_update").map(({ state }) => state),
    ["running", "requires_action", "running", "idle"],
  )
  assert.ok(acp.of("plan_update").length)
  const [created] = acp.of("tool_call_update").filter(({ title }) => title?.includes("a.txt"))
  assert.ok(created!.name)
  assert.match(JSON.stringify(acp.of("tool_call_update").at(-1)!.content), /"operation":"add".*git_patch/)
})

test("ACP-CANCEL-201, ACP-CANCEL-202, ACP-CANCEL-203 a cancelled turn ends idle as cancelled, and no state follows", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([endless()])
  await using acp = await withSession(tmp, { llm })
  await acp.send("speak")
  await until(() => acp.of("agent_message_chunk").length, "it speaks")
  await acp.agent.notify(on.session.cancel, { sessionId: acp.sessionId, _meta: { why: "test" } })
  await until(() => acp.ends().length, "the turn ends")
  assert.equal((acp.ends()[0] as { stopReason?: string }).stopReason, "cancelled")
  const count = acp.updates.length
  await sleep(quiet)
  assert.equal(acp.updates.length, count)
})

test("ACP-CANCEL-203 a prompt that is cancelled together with its request is acknowledged and ends as cancelled", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  await using acp = await withSession(tmp, { llm })
  const { sessionId } = acp
  const params = { sessionId, prompt: [{ type: "text", text: "speak" }] }
  acp.write(
    line({ id: "p", method: "session/prompt", params }) +
      line({ method: "session/cancel", params: { sessionId } }),
  )
  const { result } = JSON.parse(await acp.line(/"id":"p"/))
  await until(() => acp.ends().length, "the turn ends")
  assert.deepEqual([acp.of("user_message")[0]!.messageId, llm.requests.length], [result.messageId, 0])
})

test("ACP-CLOSE-201, ACP-CLOSE-202, ACP-CANCEL-208 session/close cancels the running turn", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([endless()])
  await using acp = await withSession(tmp, { llm })
  await acp.send("speak")
  await until(() => acp.of("agent_message_chunk").length, "it speaks")
  assert.deepEqual(await acp.agent.request(on.session.close, { sessionId: acp.sessionId }), {})
  await until(() => acp.ends().length, "the turn ends")
  assert.equal((acp.ends()[0] as { stopReason?: string }).stopReason, "cancelled")
})

test("ACP-RESUME-201 to ACP-RESUME-205, ACP-CONFIG-203 session/resume replays from the start if it is asked to", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  const { messageId } = await acp.prompt("hello")
  const resume = async (more: object) => {
    acp.updates.length = 0
    const params = { sessionId: acp.sessionId, cwd: tmp.path, ...more }
    const resumed = await acp.agent.request(on.session.resume, params)
    assert.ok(resumed.configOptions?.length)
    const count = acp.updates.length
    await sleep(quiet)
    assert.equal(acp.updates.length, count)
    return acp.updates.map(({ update }) => update)
  }
  assert.deepEqual(await resume({}), [])
  const [first, chunk] = await resume({ replayFrom: { type: "start" } })
  assert.deepEqual(first, { sessionUpdate: "user_message", messageId, content: [] })
  assert.equal(chunk!.sessionUpdate, "user_message_chunk")
  assert.ok(acp.of("agent_message_chunk").length)
})

test("ACP-LIST-201 to ACP-LIST-204, ACP-DELETE-201 to ACP-DELETE-203 sessions are listed by folder, and deleted ones are not", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const list = async (params: object = {}) => (await acp.agent.request(on.session.list, params)).sessions
  assert.deepEqual(
    (await list({ cwd: tmp.path })).map(({ cwd }) => cwd),
    [tmp.path],
  )
  assert.deepEqual(await list({ cwd: "/no/session/here" }), [])
  for (const sessionId of [acp.sessionId, acp.sessionId, "never"])
    await acp.agent.request(on.session.delete, { sessionId })
  assert.deepEqual(await list(), [])
})

test("ACP-CONFIG-202, ACP-CONFIG-206 an option is set, and all options are returned and reported", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const params = { sessionId: acp.sessionId, configId: "mode", type: "id" as const, value: "plan" }
  const { configOptions } = await acp.agent.request(on.session.setConfigOption, params)
  const ids = (options: readonly { configId: string }[]) => options.map(({ configId }) => configId)
  assert.deepEqual(ids(configOptions), ids(acp.opened.configOptions!))
  await until(() => acp.of("config_option_update").length, "the change is reported")
  assert.deepEqual(ids(acp.of("config_option_update")[0]!.configOptions), ids(configOptions))
})

test("ACP-ADDDIRS-201, ACP-ADDDIRS-202 additional directories are taken by session/new and session/resume", async () => {
  await using tmp = await tmpdir()
  const folder = tmp.write("../more/a.txt", "x").replace(/\/a\.txt$/, "")
  await using acp = await connected(tmp)
  const additionalDirectories = [folder]
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: tmp.path, additionalDirectories })
  await acp.agent.request(on.session.resume, { sessionId, cwd: tmp.path, additionalDirectories })
})

test("ACP-BATCH-201, ACP-JSONRPC-004, ACP-JSONRPC-005, ACP-EXT-001 an empty batch and unknown methods get errors, and the connection stays usable", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  acp.write("[]\n")
  assert.equal(JSON.parse(await acp.line(/-32600/)).id, null)
  for (const method of ["session/dance", "_vendor.example/ask"])
    await assert.rejects(acp.agent.request(method as "_x", {}), { code: -32601 })
  assert.equal((await acp.agent.request(on.session.list, {})).sessions.length, 1)
})

test("a turn that fails ends idle with the error", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  await using acp = await withSession(tmp, { llm })
  await acp.prompt("speak")
  const { stopReason, error } = acp.ends()[0] as { stopReason?: string; error?: { message: string } }
  assert.equal(stopReason, "error")
  assert.match(error!.message, /no reply for request/)
})

test("an invalid prompt is refused with the reason", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  await assert.rejects(acp.send({ type: "audio", data: "AAAA", mimeType: "audio/wav" }), { code: -32602 })
  const unknown = { sessionId: "unknown", prompt: [{ type: "text" as const, text: "hello" }] }
  await assert.rejects(acp.agent.request(on.session.prompt, unknown), { code: -32002 })
})
