// Sessions through `vitamin acp`: created, loaded, resumed, closed, deleted.
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { type Acp, choose, connected, on, textOf, withSession } from "../harness.ts"

const missing = "sess_01aaaaaaaaaaaaaaaaaaaaaaaa"

function say(acp: Acp, sessionId: string, words = "hello") {
  return acp.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] })
}

test("session/load replays the history, then answers, and the session continues", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("read", { path: "README.md" }),
    text("It is a fixture."),
    text("More."),
  ])
  let sessionId = ""
  {
    await using acp = await withSession(tmp, { llm })
    sessionId = acp.sessionId
    await acp.prompt("what is it")
  }
  await using acp = await connected(tmp, { llm })
  const { modes } = await acp.agent.request(on.session.load, { sessionId, cwd: tmp.path, mcpServers: [] })
  const told = acp.updates.map(({ update }) => update)
  assert.equal(modes?.currentModeId, "act")
  assert.equal(textOf(told, "user_message_chunk"), "what is it")
  assert.equal(textOf(told), "It is a fixture.")
  const [call_] = acp.of("tool_call")
  assert.equal(call_?.name, "read")
  await say(acp, sessionId, "go on")
  assert.equal(acp.text(), "It is a fixture.More.")
  assert.equal(
    textOf(
      acp.updates.map(({ update }) => update),
      "user_message_chunk",
    ),
    "what is it",
  )
})

test("session/resume opens the session without replaying it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One."), text("Two.")])
  let sessionId = ""
  {
    await using acp = await withSession(tmp, { llm })
    sessionId = acp.sessionId
    await acp.prompt("first")
  }
  await using acp = await connected(tmp, { llm })
  await acp.agent.request(on.session.resume, { sessionId, cwd: tmp.path })
  await say(acp, sessionId, "second")
  assert.equal(acp.text(), "Two.")
  assert.match(JSON.stringify(llm.requests[1]!.messages), /first.*One\..*second/)
})

test("session/load stops a running session first", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([stall(text("On and on.", { deltas: 9 }), 1_200), text("Done.")])
  await using acp = await withSession(tmp, { llm })
  const { sessionId } = acp
  const answer = acp.prompt("speak")
  await until(() => acp.text(), "it speaks")
  await acp.agent.request(on.session.load, { sessionId, cwd: tmp.path, mcpServers: [] })
  assert.equal((await answer).stopReason, "cancelled")
  assert.equal((await acp.prompt("again")).stopReason, "end_turn")
  // Each update arrives once: the first opening no longer listens.
  assert.equal(acp.text().split("Done.").length, 2)
})

test("opening a session with an invalid folder, id or parameter is refused with the reason", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const { sessionId, agent } = acp
  const elsewhere = join(tmp.path, "sub")
  mkdirSync(elsewhere)
  const file = tmp.write("file.txt", "x")
  const mcpServers: [] = []
  const tried: [method: string, params: object, code: number, reason: RegExp][] = [
    [on.session.new, { cwd: "relative", mcpServers }, -32602, /"relative" is not an absolute path/],
    [on.session.new, { cwd: `${tmp.path}/none`, mcpServers }, -32602, /none" is not a folder/],
    [on.session.new, { cwd: file, mcpServers }, -32602, /file\.txt" is not a folder/],
    [on.session.new, { cwd: 7, mcpServers }, -32602, /cwd: .*expected string/],
    [on.session.new, { cwd: "/a\0b", mcpServers }, -32602, /not an absolute path/],
    [on.session.new, { mcpServers }, -32602, /cwd/],
    [on.session.load, { sessionId: missing, cwd: tmp.path, mcpServers }, -32002, /does not exist/],
    [on.session.load, { sessionId: "../../x", cwd: tmp.path, mcpServers }, -32002, /does not exist/],
    [on.session.load, { sessionId, cwd: elsewhere, mcpServers }, -32602, /belongs to .*project/],
    [on.session.resume, { sessionId: missing, cwd: tmp.path }, -32002, /does not exist/],
    [on.session.prompt, { sessionId: missing, prompt: [] }, -32002, /is not open here/],
    [on.session.prompt, { sessionId, prompt: "hello" }, -32602, /prompt: .*expected array/],
    [on.session.setMode, { sessionId, modeId: "yolo" }, -32602, /"yolo" does not exist/],
    [on.session.setConfigOption, { sessionId, configId: "colour", value: "red" }, -32602, /"colour"/],
    [on.session.setConfigOption, { sessionId, configId: "model", value: "nope" }, -32602, /provider\/model/],
    [on.session.setConfigOption, { sessionId, configId: "agent", value: "nobody" }, -32602, /"nobody"/],
    [on.session.list, { cwd: "relative" }, -32602, /not an absolute path/],
    [on.session.list, { cursor: "x" }, -32602, /cursor/],
  ]
  for (const [method, params, code, reason] of tried)
    await assert.rejects(
      agent.request(method, params),
      (error: { code: number; message: string; data?: { name?: string } }) => {
        assert.equal(error.code, code, `${method}: ${error.message}`)
        assert.match(error.message, reason)
        assert.doesNotMatch(error.message, /\n/)
        assert.equal(typeof error.data?.name, "string")
        return true
      },
    )
  assert.equal((await acp.prompt("hello")).stopReason, "end_turn")
})

test("a closed session refuses prompts, and can be opened again", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One."), text("Two.")])
  await using acp = await withSession(tmp, { llm })
  const { sessionId, agent } = acp
  await acp.prompt("first")
  await agent.request(on.session.close, { sessionId })
  await assert.rejects(acp.prompt("second"), { code: -32002 })
  await agent.request(on.session.resume, { sessionId, cwd: tmp.path })
  await acp.prompt("second")
  assert.equal(acp.text(), "One.Two.")
})

test("session/delete removes a session, even if its folder is gone", async () => {
  await using tmp = await tmpdir()
  const sub = join(tmp.path, "sub")
  mkdirSync(sub)
  await using acp = await withSession(tmp)
  const { agent, sessionId } = acp
  const { sessionId: second } = await agent.request(on.session.new, { cwd: sub, mcpServers: [] })
  await agent.request(on.session.close, { sessionId: second })
  rmSync(sub, { recursive: true })
  await agent.request(on.session.delete, { sessionId })
  await agent.request(on.session.delete, { sessionId: second })
  assert.deepEqual((await agent.request(on.session.list, {})).sessions, [])
  await assert.rejects(acp.prompt("hello"), { code: -32002 })
  // The SDK's client would hide an error for a session that is already deleted, so the raw response is checked.
  acp.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: "d", method: on.session.delete, params: { sessionId } })}\n`,
  )
  assert.deepEqual(JSON.parse(await acp.line(/"id":"d"/)).result, {})
})

test("one process serves several folders, each with its own files and rules", async () => {
  await using tmp = await tmpdir({ git: true })
  const other = tmp.write("../other/README.md", "# the other one\n").replace(/\/README\.md$/, "")
  await using llm = await fakeLlm([
    call("read", { path: "README.md" }),
    text("A."),
    call("read", { path: "README.md" }),
    text("B."),
  ])
  await using acp = await withSession(tmp, { llm })
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: other, mcpServers: [] })
  await acp.prompt("read")
  await say(acp, sessionId, "read")
  const results = [llm.requests[1]!, llm.requests[3]!].map(({ messages }) => JSON.stringify(messages))
  assert.match(results[0]!, /# fixture/)
  assert.match(results[1]!, /# the other one/)
  assert.equal(
    textOf(acp.updates.filter((one) => one.sessionId === sessionId).map(({ update }) => update)),
    "B.",
  )
})

test("two sessions of a folder run in parallel, and get only their own updates", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm((request) => {
    const name = /I am (\w+)/.exec(JSON.stringify(request.messages))![1]!
    if (request.messages.at(-1)!.role === "user") return call("write", { path: `${name}.txt`, content: name })
    return text(`Written by ${name}.`, { deltas: 4, delay: 5 })
  })
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers: [] })
  await Promise.all([acp.prompt("I am Ann"), say(acp, sessionId, "I am Bob")])
  const textIn = (id: string) =>
    textOf(acp.updates.filter((one) => one.sessionId === id).map(({ update }) => update))
  assert.deepEqual([textIn(acp.sessionId), textIn(sessionId)], ["Written by Ann.", "Written by Bob."])
  for (const { sessionId: id, toolCall } of acp.permissions)
    assert.match(JSON.stringify(toolCall), id === sessionId ? /Bob\.txt/ : /Ann\.txt/)
  assert.equal(acp.permissions.length, 2)
})

test("a session that cannot be deleted stays open", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([stall(text("On and on.", { deltas: 9 }), 1_200), text("Still here.")])
  await using first = await withSession(tmp, { llm })
  const { sessionId } = first
  const answer = first.prompt("speak")
  await until(() => first.text(), "it speaks")
  await using second = await connected(tmp, { llm })
  await second.agent.request(on.session.resume, { sessionId, cwd: tmp.path })
  await assert.rejects(second.agent.request(on.session.delete, { sessionId }), {
    data: { name: "Session.Busy", sessionId },
  })
  // Setting an option is not refused either.
  await second.agent.request(on.session.setMode, { sessionId, modeId: "plan" })
  await first.agent.notify(on.session.cancel, { sessionId })
  await answer
  assert.equal((await say(second, sessionId)).stopReason, "end_turn")
  assert.equal(second.text(), "Still here.")
  assert.equal(second.of("current_mode_update").at(-1)?.currentModeId, "plan")
})

test("a prompt is refused as busy when another process runs the session", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([stall(text("On and on.", { deltas: 9 }), 1_200)])
  await using first = await withSession(tmp, { llm })
  const { sessionId } = first
  const answer = first.prompt("speak")
  await until(() => first.text(), "it speaks")
  await using second = await connected(tmp, { llm })
  await second.agent.request(on.session.resume, { sessionId, cwd: tmp.path })
  await assert.rejects(say(second, sessionId), { code: -32603, data: { name: "Session.Busy", sessionId } })
  await first.agent.notify(on.session.cancel, { sessionId })
  await answer
})
