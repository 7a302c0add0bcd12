// Prompts of an editor that wait for another one are not lost when `vitamin acp` ends.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { on, withSession } from "../harness.ts"

type Info = { status: string; skipped?: { text: string; reason: string }[] }

const hanging = () => stall(text("On and on.", { deltas: 9 }), 1_200)

async function sessionOf(tmp: Tmp, sessionId: string): Promise<Info> {
  const { out } = await vitamin(tmp, ["session", "show", sessionId, "--format", "json"])
  return JSON.parse(out).session
}

/** The number of stored prompts, read by another process. */
async function stored(tmp: Tmp): Promise<number> {
  try {
    return readdirSync(`${tmp.env.XDG_DATA_HOME}/vitamin/storage/prompt`).length
  } catch {
    return 0
  }
}

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`a waiting prompt is reported as skipped after ${signal}, and again when an editor loads the session`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([hanging()])
    await using acp = await withSession(tmp, { llm })
    const asked = [acp.prompt("first")]
    await until(() => acp.text(), "it speaks")
    asked.push(acp.prompt("second"), acp.prompt("third"))
    const settled = Promise.allSettled(asked)
    await until(async () => (await stored(tmp)) === 2, "they are stored")
    acp.kill(signal)
    await acp.exit
    await settled
    const { status, skipped } = await sessionOf(tmp, acp.sessionId)
    assert.deepEqual([status, skipped?.map((one) => one.text)], ["interrupted", ["second", "third"]])
    await using again = await withSession(tmp, { llm, capabilities: { session: { notices: {} } } })
    await again.agent.request(on.session.load, { sessionId: acp.sessionId, cwd: tmp.path, mcpServers: [] })
    const notices = () => JSON.stringify(again.updates.map(({ update }) => update))
    await until(() => /not run.*second/.test(notices()) && /not run.*third/.test(notices()), "it is told")
  })

test("a waiting prompt that the editor cancels is dropped", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([hanging(), text("Here.")])
  await using acp = await withSession(tmp, { llm })
  const asked = [acp.prompt("first")]
  await until(() => acp.text(), "it speaks")
  asked.push(acp.prompt("second"))
  await until(async () => (await stored(tmp)) === 1, "it is stored")
  await acp.agent.notify(on.session.cancel, { sessionId: acp.sessionId })
  for (const { stopReason } of await Promise.all(asked)) assert.equal(stopReason, "cancelled")
  assert.equal(await stored(tmp), 0)
  assert.equal((await sessionOf(tmp, acp.sessionId)).skipped, undefined)
  assert.equal((await acp.prompt("third")).stopReason, "end_turn")
})

test("a waiting prompt that cannot start is reported as skipped with the reason", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("On and on.", { deltas: 9, delay: 100 })])
  await using acp = await withSession(tmp, { llm })
  const first = acp.prompt("first")
  await until(() => acp.text(), "it speaks")
  const second = acp.prompt("/nonexistent second")
  await until(async () => (await stored(tmp)) === 1, "it is stored")
  await assert.rejects(second, /nonexistent/)
  assert.equal((await first).stopReason, "end_turn")
  const { skipped } = await sessionOf(tmp, acp.sessionId)
  assert.deepEqual(
    skipped?.map((one) => one.text),
    ["/nonexistent second"],
  )
  assert.match(skipped![0]!.reason, /nonexistent/)
})
