// Clients of `vitamin a2a serve` that do the same thing at the same time.
import assert from "node:assert/strict"
import { test } from "node:test"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { allowed, atOnce, go, say, serveA2A, taskOf, waiting } from "./harness.ts"

const several = Array.from({ length: 8 }, (_, i) => i)

test("tasks that begin a context of the client at once share one session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const tasks = await Promise.all(
    several.map((i) => client.sendMessage(say(`hello ${i}`, { contextId: "shared" })).then(taskOf)),
  )
  const sessions = new Set(tasks.map(({ metadata }) => metadata?.sessionId))
  assert.equal(sessions.size, 1)
  const stored = await served.fetch(`${served.url}/session`)
  assert.deepEqual(
    ((await stored.json()) as { id: string }[]).map(({ id }) => id),
    [...sessions],
    "no other session is left",
  )
})

test("push configurations that are created and deleted at once are all kept or gone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("Went.")])
  const rule = ["--allow", "network.fetch:http://127.0.0.1:9/*"]
  await using served = await serveA2A(tmp, { args: [...allowed, ...rule], env: env(llm, "chat").variables })
  const { id: taskId } = taskOf(await (await served.client()).sendMessage(say("wait", {}, atOnce)))
  const create = (i: number) =>
    served.rpc("CreateTaskPushNotificationConfig", { taskId, id: `p${i}`, url: `http://127.0.0.1:9/${i}` })
  const listed = async () =>
    ((await served.rpc("ListTaskPushNotificationConfigs", { taskId })).result.configs ?? [])
      .map(({ id }: { id: string }) => id)
      .toSorted()
  await Promise.all(several.map(create))
  assert.deepEqual(
    await listed(),
    several.map((i) => `p${i}`),
  )
  await Promise.all(
    several.map((i) => served.rpc("DeleteTaskPushNotificationConfig", { taskId, id: `p${i}` })),
  )
  assert.deepEqual(await listed(), [])
  go(tmp)
})
