// Commands run in the client's terminals, where it offers them, and are shown in the tool call.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { running, uniqueNap } from "../../../ability/shell/running.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, type Options, on, withSession } from "../harness.ts"
import { createDesk, type Desk } from "../open-files.ts"

type Tmp = Awaited<ReturnType<typeof tmpdir>>

const withTerminals = (tmp: Tmp, desk: Desk, options: Options) =>
  withSession(tmp, { desk, capabilities: { terminal: true }, permit: choose("allow_once"), ...options })
const resultOf = (llm: FakeLlm, turn = -1) =>
  llm.requests
    .at(turn)!
    .messages.flatMap(({ results }) => results)
    .at(-1)!.text
const embedded = [{ type: "terminal", terminalId: "terminal-1" }]

test("a command runs in a terminal of the client, which its call shows while it runs and afterwards", async () => {
  await using tmp = await tmpdir({ git: true })
  mkdirSync(join(tmp.path, "sub"))
  await using llm = await fakeLlm([
    call("bash", { command: "echo hello; cd sub; exit 3" }),
    call("bash", { command: "pwd" }),
    text("Done."),
  ])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm })
  await acp.prompt("run it")
  assert.match(resultOf(llm, 1), /hello[\s\S]*working directory is now sub[\s\S]*exit code 3/)
  assert.equal(resultOf(llm, 2), `${join(realpathSync(tmp.path), "sub")}\n`)
  const [first] = acp.of("tool_call")
  const updates = acp.of("tool_call_update").filter(({ toolCallId }) => toolCallId === first!.toolCallId)
  assert.deepEqual(
    updates.filter(({ content }) => content?.length).map(({ status, content }) => [status, content]),
    [
      ["in_progress", embedded],
      ["completed", embedded],
    ],
  )
  const ofFirst = desk.log.filter((line) => !line.endsWith("terminal-2"))
  assert.deepEqual(
    ofFirst.map((line) => line.split(" ")[0]),
    ["create", "output", "release", "create"],
  )
  assert.equal(desk.terminals.size, 0)
})

test("session/cancel kills the command in the client's terminal and releases the terminal", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([
    call("bash", { command: `setsid sleep ${nap} & sleep ${nap}` }),
    text("Back."),
  ])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm })
  const answer = acp.prompt("sleep")
  await until(() => running(`sleep ${nap}`).length >= 2, "the command runs")
  await acp.agent.notify(on.session.cancel, { sessionId: acp.sessionId })
  assert.equal((await answer).stopReason, "cancelled")
  await until(() => running(`sleep ${nap}`).length === 0, "the command is gone, and what it detached")
  await until(() => desk.terminals.size === 0, "the terminal is released")
  assert.ok(desk.log.includes("kill terminal-1"))
  assert.equal((await acp.prompt("go on")).stopReason, "end_turn")
})

test("a terminal that comes after the turn was cancelled is released at once", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` })])
  const desk = createDesk()
  const { promise, resolve } = Promise.withResolvers<void>()
  desk.slow.until = promise
  await using acp = await withTerminals(tmp, desk, { llm })
  const answer = acp.prompt("sleep")
  await until(() => desk.log.length, "a terminal is asked for")
  await acp.agent.notify(on.session.cancel, { sessionId: acp.sessionId })
  assert.equal((await answer).stopReason, "cancelled")
  resolve()
  await until(() => desk.log.includes("release terminal-1"), "the terminal is released")
  await until(() => running(nap).length === 0, "the command is gone")
})

test("a command that must run in a sandbox gets no terminal", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "echo inside" }), text("Done.")])
  const desk = createDesk()
  const VITAMIN_CONFIG = JSON.stringify({ bash: { sandbox: true } })
  await using acp = await withTerminals(tmp, desk, { llm, env: { VITAMIN_CONFIG } })
  await acp.prompt("run it")
  assert.deepEqual(desk.log, [])
  assert.equal(llm.requests.length, 2)
})

test("a command in a terminal ends at its timeout, and the model gets its output", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([
    call("bash", { command: `echo before; sleep ${nap}`, timeout: 4 }),
    text("Too slow."),
  ])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm })
  await acp.prompt("sleep")
  assert.match(resultOf(llm), /before[\s\S]*timed out after 4 s/)
  assert.deepEqual([running(nap), desk.terminals.size], [[], 0])
})

test("a command in a terminal gets no keys, and asks and draws nothing", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "env" }), text("Done.")])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm, env: { SOME_TOKEN: "not-for-commands" } })
  await acp.prompt("run it")
  const given = Object.fromEntries(desk.created[0]!.env!.map(({ name, value }) => [name, value]))
  assert.deepEqual([given.OPENAI_API_KEY, given.SOME_TOKEN, given.GIT_TERMINAL_PROMPT], ["", "", "0"])
  assert.doesNotMatch(JSON.stringify(desk.created), /not-for-commands|fake-llm-key/)
})

test("what a command in a terminal changed can be undone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "echo x > made.txt" }), text("Done.")])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm })
  await acp.prompt("make it")
  assert.equal(existsSync(join(tmp.path, "made.txt")), true)
  const { code, err } = await vitamin(tmp, ["session", "revert", acp.sessionId])
  assert.equal(code, 0, err)
  assert.equal(existsSync(join(tmp.path, "made.txt")), false)
})

test("a command that is not allowed gets no terminal", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "echo x" }), text("No.")])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm, permit: choose("reject_once") })
  await acp.prompt("run it")
  assert.deepEqual(desk.log, [])
})

test("a command runs without a terminal if the client refuses to give one", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "echo here" }), text("Done.")])
  const desk = createDesk()
  desk.refused.add("create")
  await using acp = await withTerminals(tmp, desk, { llm })
  await acp.prompt("run it")
  assert.equal(resultOf(llm), "here\n")
  assert.match(acp.errors(), /gave no terminal/)
})

test("a session that is loaded again shows the output of a terminal as text", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "echo kept" }), text("Done.")])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm })
  await acp.prompt("run it")
  acp.updates.length = 0
  const { sessionId } = acp
  await acp.agent.request(on.session.load, { sessionId, cwd: tmp.path, mcpServers: [] })
  assert.match(JSON.stringify(acp.of("tool_call_update").at(-1)!.content), /kept/)
})

test("commands of a subtask run outside of the client's terminals", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("subtask", { task: "run it" }),
    call("bash", { command: "echo inner" }),
    text("Inner done."),
    text("Done."),
  ])
  const desk = createDesk()
  await using acp = await withTerminals(tmp, desk, { llm })
  await acp.prompt("delegate it")
  assert.deepEqual([desk.log, resultOf(llm, 2)], [[], "inner\n"])
})
