// `vitamin acp` exits at once for every reason, leaves no process behind, and loses no record.
import assert from "node:assert/strict"
import { test } from "node:test"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, stall, text } from "../../fixture/fake-llm.ts"
import { everythingFile } from "../../fixture/mcp/servers.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { choose, on, withSession } from "./harness.ts"

type Acp = Awaited<ReturnType<typeof withSession>>

const endings: [name: string, end: (acp: Acp) => unknown, exitCode: number][] = [
  ["stdin is closed", ({ stdin }) => stdin.end(), 0],
  ["SIGTERM arrives", ({ kill }) => kill("SIGTERM"), 143],
  ["SIGINT arrives", ({ kill }) => kill("SIGINT"), 130],
  ["SIGHUP arrives", ({ kill }) => kill("SIGHUP"), 130],
]
for (const [name, end, exitCode] of endings)
  test(`a running turn is stopped and stored, and its command is killed, when ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const nap = uniqueNap()
    await using llm = await fakeLlm([call("bash", { command: `sleep ${nap} & sleep ${nap}; wait` })])
    const args = [everythingFile, "stdio", nap]
    const server = { name: "everything", command: process.execPath, args, env: [] }
    await using acp = await withSession(tmp, { llm, permit: choose("allow_once"), mcpServers: [server] })
    const answer = acp.prompt("sleep")
    await until(() => running(`sleep ${nap}`).length >= 2, "the command runs")
    await until(() => running(`stdio ${nap}`).length, "the server runs")
    end(acp)
    assert.equal((await answer).stopReason, "cancelled")
    assert.equal(await acp.exit, exitCode, acp.errors())
    assert.equal(llm.requests.length, 1)
    await until(() => running(nap).length === 0, "all is gone")
    const { out } = await vitamin(tmp, ["session", "show", acp.sessionId, "--format", "json"])
    const { session, messages } = JSON.parse(out)
    assert.equal(session.status, "interrupted")
    assert.equal(messages.at(-1).data.status, "interrupted")
  })

for (const [name, end, exitCode] of endings.slice(0, 2))
  test(`vitamin acp exits although the client does not read its output, when ${name}`, async () => {
    await using tmp = await tmpdir()
    await using acp = await withSession(tmp)
    acp.stdout.pause()
    // More than the buffer of a pipe.
    for (let i = 0; i < 500; i++)
      acp.write(`${JSON.stringify({ jsonrpc: "2.0", id: `d${i}`, method: `x${"y".repeat(1_000)}` })}\n`)
    end(acp)
    assert.equal(await acp.left, exitCode, acp.errors())
    acp.stdout.resume()
  })

test("vitamin acp exits when the client disconnects", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` })])
  await using acp = await withSession(tmp, { llm, args: ["--yes"] })
  acp.prompt("sleep").catch(() => {})
  await until(() => running(nap).length, "the command runs")
  acp.stdout.destroy()
  acp.write('{"jsonrpc":"2.0","id":"x","method":"session/list","params":{}}\n')
  assert.equal(await acp.exit, 0, acp.errors())
  await until(() => running(nap).length === 0, "the command is gone")
})

test("closing stdin cancels an open permission request and a streaming answer in another folder", async () => {
  await using tmp = await tmpdir({ git: true })
  const other = tmp.write("../other/a.txt", "x").replace(/\/a\.txt$/, "")
  await using llm = await fakeLlm((request) =>
    /write/.test(JSON.stringify(request.messages))
      ? call("write", { path: "b.txt", content: "x" })
      : stall(text("On and on.", { deltas: 9 }), 1_200),
  )
  await using acp = await withSession(tmp, { llm, permit: () => new Promise(() => {}) })
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: other, mcpServers: [] })
  const asked = acp.prompt("write")
  const speaking = acp.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: "hi" }] })
  await until(() => acp.permissions.length && acp.text(), "both are at work")
  acp.stdin.end()
  assert.deepEqual([(await asked).stopReason, (await speaking).stopReason], ["cancelled", "cancelled"])
  assert.equal(await acp.exit, 0, acp.errors())
})

test("a session continues after SIGKILL of vitamin acp", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 2" }), text("Here.")])
  await using acp = await withSession(tmp, { llm, args: ["--yes"] })
  const over = assert.rejects(acp.prompt("sleep"))
  await until(() => acp.of("tool_call_update").length, "it runs")
  acp.kill("SIGKILL")
  await over
  const args = ["run", "--session", acp.sessionId, "go on"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.deepEqual([code, out], [0, "Here."], err)
})
