// Requirements of the public compatibility kit of the protocol (acp-tck), version 1, by their ids: sessions, modes,
// options, authentication.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { connected, on, withSession } from "../harness.ts"

/** Long enough for an update that would come too late. */
const quiet = 200

test("ACP-SESSION-001, ACP-SESSION-002 each session/new returns another id", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp)
  const open = () => acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers: [] })
  const [one, two] = [await open(), await open()]
  assert.ok(one.sessionId)
  assert.notEqual(one.sessionId, two.sessionId)
})

test("ACP-LOAD-001, ACP-LOAD-002, ACP-LOAD-003 session/load sends every update before its response, an object", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n")
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm, args: ["--trust"] })
  await acp.prompt("hello")
  acp.updates.length = 0
  const { sessionId } = acp
  const loaded = await acp.agent.request(on.session.load, { sessionId, cwd: tmp.path, mcpServers: [] })
  assert.ok(loaded.modes)
  const count = acp.updates.length
  assert.ok(acp.of("available_commands_update").length)
  await sleep(quiet)
  assert.equal(acp.updates.length, count)
})

test("ACP-RESUME-001, ACP-RESUME-002 session/resume sends nothing of the history", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  await acp.prompt("hello")
  acp.updates.length = 0
  await acp.agent.request(on.session.resume, { sessionId: acp.sessionId, cwd: tmp.path })
  assert.deepEqual(
    acp.updates.filter(({ update }) => /_chunk$/.test(update.sessionUpdate)),
    [],
  )
})

test("ACP-LIST-001, ACP-LIST-002 session/list returns a list, an empty one for a folder without sessions", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  assert.equal((await acp.agent.request(on.session.list, {})).sessions.length, 1)
  assert.deepEqual(await acp.agent.request(on.session.list, { cwd: "/no/session/here" }), { sessions: [] })
})

test("ACP-DELETE-001, ACP-DELETE-002 a session can be deleted, again, and if it never was", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const ids = [acp.sessionId, acp.sessionId, "sess_never"]
  for (const [i, sessionId] of ids.entries()) {
    acp.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: `d${i}`, method: "session/delete", params: { sessionId } })}\n`,
    )
    assert.deepEqual(JSON.parse(await acp.line(new RegExp(`"id":"d${i}"`))).result, {})
  }
})

test("ACP-CLOSE-001, ACP-CLOSE-002 session/close ends an idle session, and cancels a running prompt", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([stall(text("On and on.", { deltas: 9 }), 1_200)])
  await using acp = await withSession(tmp, { llm })
  const answer = acp.prompt("speak")
  await until(() => acp.text(), "it speaks")
  await acp.agent.request(on.session.close, { sessionId: acp.sessionId })
  assert.equal((await answer).stopReason, "cancelled")
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers: [] })
  assert.deepEqual(await acp.agent.request(on.session.close, { sessionId }), {})
})

test("ACP-ADDDIRS-001 session/new takes an absolute additional directory", async () => {
  await using tmp = await tmpdir()
  const folder = tmp.write("../more/a.txt", "x").replace(/\/a\.txt$/, "")
  await using acp = await connected(tmp)
  assert.ok(acp.initialized.agentCapabilities?.sessionCapabilities?.additionalDirectories)
  const opened = await acp.agent.request(on.session.new, {
    cwd: tmp.path,
    mcpServers: [],
    additionalDirectories: [folder],
  })
  assert.ok(opened.sessionId)
})

test("ACP-MODES-001, ACP-MODES-002 the current mode is one of the modes, and can be changed", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const { currentModeId, availableModes } = acp.opened.modes!
  assert.ok(availableModes.some(({ id }) => id === currentModeId))
  const { id: modeId } = availableModes.find(({ id }) => id !== currentModeId)!
  await acp.agent.request(on.session.setMode, { sessionId: acp.sessionId, modeId })
  await until(() => acp.of("current_mode_update").length, "the change is reported")
  assert.equal(acp.of("current_mode_update")[0]!.currentModeId, modeId)
})

test("ACP-CONFIG-001, ACP-CONFIG-002, ACP-CONFIG-003 options have valid values, are returned complete, and none is a boolean", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const options = acp.opened.configOptions!
  for (const option of options) {
    assert.equal(option.type, "select")
    const values = (option as { options: { value: string }[] }).options.map(({ value }) => value)
    assert.ok(values.includes((option as { currentValue: string }).currentValue))
  }
  const { configOptions } = await acp.agent.request(on.session.setConfigOption, {
    sessionId: acp.sessionId,
    configId: "mode",
    value: "plan",
  })
  assert.deepEqual(
    configOptions.map(({ id }) => id),
    options.map(({ id }) => id),
  )
  const mode = configOptions.find(({ id }) => id === "mode") as { currentValue: string }
  assert.equal(mode.currentValue, "plan")
})

test("ACP-AUTH-001, ACP-AUTH-002, ACP-AUTH-005 without a terminal no login is offered, and session/new needs none", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  assert.deepEqual(acp.initialized.authMethods, [])
})

test("ACP-AUTH-003, ACP-AUTH-004 authenticate returns an object, and logout, which is not offered, does not exist", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp, { capabilities: { auth: { terminal: true } } })
  const [method] = acp.initialized.authMethods!
  assert.deepEqual(await acp.agent.request(on.authenticate, { methodId: method!.id }), {})
  assert.ok((await acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers: [] })).sessionId)
  assert.equal(acp.initialized.agentCapabilities?.auth?.logout, undefined)
  await assert.rejects(acp.agent.request(on.logout, {}), { code: -32601 })
})
