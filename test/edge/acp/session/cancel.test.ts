// A client cancels a turn: it ends as "cancelled", its processes are killed, and the session can continue.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { running, uniqueNap } from "../../../ability/shell/running.ts"
import { call, type FakeLlm, fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, type Options, on, withSession } from "../harness.ts"

type Acp = Awaited<ReturnType<typeof withSession>>

/** An answer that stalls in the middle. */
const endless = () => stall(text("This goes on and on and on.", { deltas: 20 }), 1_500)
const never: NonNullable<Options["permit"]> = () => new Promise(() => {})

const cancel = ({ agent, sessionId }: Acp) => agent.notify(on.session.cancel, { sessionId })

async function goesOn(acp: Acp, llm: FakeLlm): Promise<void> {
  llm.push(text(" I am back."))
  assert.equal((await acp.prompt("go on")).stopReason, "end_turn")
  assert.match(acp.text(), /I am back\.$/)
}

test("session/cancel stops a streaming answer", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([endless()])
  await using acp = await withSession(tmp, { llm })
  const answer = acp.prompt("speak")
  await until(() => acp.text().length > 0, "it speaks")
  await cancel(acp)
  assert.equal((await answer).stopReason, "cancelled")
  await goesOn(acp, llm)
})

test("session/cancel sent together with a prompt cancels it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  await using acp = await withSession(tmp, { llm })
  const { sessionId } = acp
  const params = { sessionId, prompt: [{ type: "text", text: "speak" }] }
  const message = { jsonrpc: "2.0", id: "both", method: "session/prompt", params }
  const stop = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } }
  acp.write(`${JSON.stringify(message)}\n${JSON.stringify(stop)}\n`)
  const line = await acp.line(/"id":"both"/)
  assert.deepEqual(JSON.parse(line).result, { stopReason: "cancelled" })
  assert.equal(llm.requests.length, 0)
  await goesOn(acp, llm)
})

test("session/cancel withdraws an open permission request", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" })])
  await using acp = await withSession(tmp, { llm, permit: never })
  const answer = acp.prompt("write it")
  await until(() => acp.permissions.length, "the person is asked")
  await cancel(acp)
  assert.equal((await answer).stopReason, "cancelled")
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  // The permission request is withdrawn.
  await acp.line(/"\$\/cancel_request"/)
  await goesOn(acp, llm)
})

test("a cancelled permission request decides nothing and ends the turn", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" })])
  const permit = () => ({ outcome: { outcome: "cancelled" as const } })
  await using acp = await withSession(tmp, { llm, permit })
  assert.equal((await acp.prompt("write it")).stopReason, "cancelled")
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  await goesOn(acp, llm)
})

for (const [name, stop] of [
  ["session/cancel", cancel],
  ["session/close", ({ agent, sessionId }: Acp) => agent.request(on.session.close, { sessionId })],
  ["session/delete", ({ agent, sessionId }: Acp) => agent.request(on.session.delete, { sessionId })],
] as const)
  test(`${name} kills a running command with its children`, async () => {
    await using tmp = await tmpdir({ git: true })
    const nap = uniqueNap()
    await using llm = await fakeLlm([call("bash", { command: `sleep ${nap} & sleep ${nap}; wait` })])
    await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
    const answer = acp.prompt("sleep")
    await until(() => running(`sleep ${nap}`).length >= 2, "the command runs")
    await stop(acp)
    assert.equal((await answer).stopReason, "cancelled")
    await until(() => running(nap).length === 0, "the command is gone")
  })

for (const [name, before] of [
  ["a finished call", []],
  ["a finished task", [call("subtask", { task: "start it" })]],
] as const)
  test(`a process that ${name} left outside of its process group ends with the turn`, async () => {
    await using tmp = await tmpdir({ git: true })
    const nap = uniqueNap()
    const left = call("bash", { command: `(setsid sleep ${nap} >/dev/null 2>&1 &)` })
    const told = before.length ? [text("It is started.")] : []
    await using llm = await fakeLlm([...before, left, ...told, endless()])
    await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
    const answer = acp.prompt("start it")
    await until(() => acp.text().length > 0, "it speaks")
    await until(() => running(`sleep ${nap}`).length, "what was left runs")
    await cancel(acp)
    assert.equal((await answer).stopReason, "cancelled")
    await until(() => running(nap).length === 0, "it is gone")
  })

test("$/cancel_request cancels its prompt and no other", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([endless(), text(" Second.")])
  await using acp = await withSession(tmp, { llm })
  const over = new AbortController()
  const { sessionId } = acp
  const first = acp.agent.request(
    on.session.prompt,
    { sessionId, prompt: [{ type: "text", text: "speak" }] },
    { cancellationSignal: over.signal },
  )
  await until(() => acp.text().length > 0, "it speaks")
  const second = acp.prompt("and you")
  over.abort()
  assert.deepEqual([(await first).stopReason, (await second).stopReason], ["cancelled", "end_turn"])
  assert.match(acp.text(), /Second\.$/)
})

test("session/cancel for an unknown session does nothing", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  await using acp = await withSession(tmp, { llm })
  await cancel(acp)
  await acp.agent.notify(on.session.cancel, { sessionId: "sess_unknown" })
  acp.write('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":7}}\n')
  acp.write('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"nobody"}}\n')
  await goesOn(acp, llm)
})
