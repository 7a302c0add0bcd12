import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as Session from "#engine/session/session.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { call, calls, text, wires } from "../../fixture/fake-llm.ts"
import { repeat } from "../../fixture/soak.ts"
import { inWorld, resultsOf, textOf, type World } from "./harness.ts"

const times = repeat(15, 200)

test(`a session whose process is killed in a turn opens, is complete and continues (${times} times)`, async () => {
  let turn = 0
  const script = () => {
    if (turn < 0) return text("alive")
    const several = calls([text("Looking around. "), call("ls"), call("wait", { value: String(turn++) })], {
      deltas: 3,
      delay: 2,
    })
    return turn % 5 ? several : text("words ".repeat(40), { deltas: 40, delay: 2 })
  }
  await inWorld(script, async (world) => {
    for (let i = 0; i < times; i++) {
      turn = 0
      const { id } = await Session.create()
      await killed(world, id)
      turn = -1
      await check(world, id)
    }
  })
})

/** A process prompts the session, and is killed at a random moment after it has begun. */
async function killed({ tmp }: World, sessionId: string): Promise<void> {
  await using child = runFixture("session-prompts.ts", {
    args: [tmp.path, sessionId],
    env: process.env as Record<string, string>,
  })
  await child.line(/^begins$/)
  await sleep(Math.random() * 150)
  child.process.kill("SIGKILL")
  await child.exit
  assert.equal(child.errors(), "")
}

async function check({ ask, llm }: World, sessionId: string): Promise<void> {
  const found = await Session.get(sessionId)
  assert.ok(found.status !== "busy", found.status)
  await Session.messages(sessionId)
  assert.equal(textOf(await ask("go on", { sessionId })), "alive")
  const messages = await Session.messages(sessionId)
  const asked = messages.flatMap((message) => (message.type === "tool_request" ? message.data.calls : []))
  const results = resultsOf(messages)
  assert.deepEqual(results.map(({ requestId }) => requestId).sort(), asked.map(({ id }) => id).sort())
  for (const message of messages)
    if (message.type === "text" && message.data.role === "assistant") assert.ok(message.data.finish)
  assert.ok(wires.includes(llm.requests.at(-1)!.wire))
  assert.deepEqual((await Storage.check()).broken, [])
}
