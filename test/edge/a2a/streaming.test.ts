// Streams over a real socket: several at once, one that is dropped, and one that begins again.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { allowed, describe, go, say, serveA2A, waiting } from "./harness.ts"

const begun = (tmp: Tmp) => until(() => existsSync(join(tmp.path, "begun")), "the command begins")

test("a client whose connection drops subscribes again and gets the rest; the task is not disturbed", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("Went.")])
  await using served = await serveA2A(tmp, { args: allowed, env: env(llm, "chat").variables })
  const client = await served.client()
  const dropping = new AbortController()
  let id = ""
  await assert.rejects(async () => {
    for await (const { payload } of client.sendMessageStream(say("wait"), { signal: dropping.signal })) {
      if (payload?.$case === "task") id = payload.value.id
      await begun(tmp)
      dropping.abort()
    }
  })
  const seen: string[] = []
  for await (const update of client.resubscribeTask({ id, tenant: "" })) {
    seen.push(describe(update))
    if (seen.length === 1) go(tmp)
  }
  assert.deepEqual([seen[0], ...seen.slice(-2)], ["task working", "result Went.", "completed"])
  assert.equal(llm.requests.length, 2)
})

test("all streams of a task get the same updates in the same order, and one that leaves does not end the others", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("Went.")])
  await using served = await serveA2A(tmp, { args: allowed, env: env(llm, "chat").variables })
  const client = await served.client()
  const first: string[] = []
  let id = ""
  const whole = (async () => {
    for await (const update of client.sendMessageStream(say("wait"))) {
      if (update.payload?.$case === "task") id = update.payload.value.id
      first.push(describe(update))
    }
  })()
  await begun(tmp)
  const leaving = client.resubscribeTask({ id, tenant: "" })
  await leaving.next()
  const others = [1, 2].map(() => client.resubscribeTask({ id, tenant: "" }))
  const heads = await Promise.all(others.map(async (stream) => describe((await stream.next()).value!)))
  await leaving.return()
  go(tmp)
  await whole
  const [second, third] = await Promise.all(others.map((stream) => Array.fromAsync(stream, describe)))
  assert.deepEqual(heads, ["task working", "task working"])
  assert.deepEqual(second, third)
  assert.deepEqual(second, first.slice(-second!.length))
  assert.equal(first.at(-1), "completed")
})

test("a message to a task that works joins its prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("Both.")])
  await using served = await serveA2A(tmp, { args: allowed, env: env(llm, "chat").variables })
  const client = await served.client()
  const stream = client.sendMessageStream(say("wait"))
  const first = await stream.next()
  const task = first.value!.payload!.value as { id: string }
  await begun(tmp)
  const joined = client.sendMessage(say("and also this", { taskId: task.id }))
  await until(async () => (await served.rpc("GetTask", { id: task.id })).result.history.length === 2)
  go(tmp)
  await joined
  const seen: string[] = []
  for await (const update of stream) seen.push(describe(update))
  assert.deepEqual(seen.slice(-2), ["result Both.", "completed"])
  assert.match(llm.requests[1]!.raw, /and also this/)
})
