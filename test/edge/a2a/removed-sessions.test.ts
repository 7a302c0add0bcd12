// Tasks, contexts and push settings are gone with their session: also if another process removed it, and if its removal was
// cut short.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Storage from "#kernel/storage/storage.ts"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { resultOf, say, serveA2A, taskOf } from "./harness.ts"

/** The records of A2A. */
function stored(tmp: Tmp): string[] {
  const storage = join(tmp.path, "../data/vitamin/storage")
  const all = readdirSync(storage, { recursive: true, encoding: "utf8" })
  return all.filter((path) => path.startsWith("a2a_") && path.endsWith(".json"))
}

test("vitamin session remove removes tasks, push settings and the context, which begins anew", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("One."), text("Two."), text("Three.")])
  await using server = await serveA2A(tmp, {
    args: ["--allow", "network.fetch:http://127.0.0.1:9/*"],
    env: env(llm, "chat").variables,
  })
  const client = await server.client()
  const task = taskOf(await client.sendMessage(say("go")))
  const other = taskOf(await client.sendMessage(say("go elsewhere")))
  const url = "http://127.0.0.1:9/hook"
  const set = await server.rpc("CreateTaskPushNotificationConfig", { taskId: task.id, url, id: "p" })
  assert.equal(set.error, undefined, JSON.stringify(set))
  assert.equal(stored(tmp).length, 4)
  const { sessionId } = task.metadata as { sessionId: string }
  const { code, err } = await vitamin(tmp, ["session", "remove", sessionId])
  assert.equal(code, 0, err)
  assert.equal(stored(tmp).length, 2)
  assert.match((await server.rpc("GetTask", { id: task.id })).error!.message, /does not exist/)
  assert.match(
    (await server.rpc("GetTaskPushNotificationConfig", { taskId: task.id, id: "p" })).error!.message,
    /does not exist/,
  )
  assert.equal((await client.getTask({ id: other.id, tenant: "" })).id, other.id)
  const next = taskOf(await client.sendMessage(say("again", { contextId: task.contextId })))
  assert.equal(resultOf(next), "Three.")
  assert.equal(next.contextId, task.contextId)
  assert.notEqual(next.metadata?.sessionId, sessionId)
})

test("a server that starts removes the tasks of sessions that are gone, and no others", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("One."), text("Two.")])
  const { variables } = env(llm, "chat")
  const [gone, kept] = await withServer(tmp, variables, async (client) => [
    taskOf(await client.sendMessage(say("one"))),
    taskOf(await client.sendMessage(say("two"))),
  ])
  // What a crash leaves that comes between the removal of a session and that of its tasks.
  const sessions = join(tmp.path, "../data/vitamin/storage/session")
  const [project] = readdirSync(sessions)
  await Storage.remove(["session", project!, gone!.metadata!.sessionId as string])
  await withServer(tmp, variables, async (client) => {
    await until(() => stored(tmp).length === 2, "they are removed")
    await assert.rejects(client.getTask({ id: gone!.id, tenant: "" }), /does not exist/)
    assert.equal((await client.getTask({ id: kept!.id, tenant: "" })).id, kept!.id)
  })
})

async function withServer<T>(
  tmp: Tmp,
  variables: Record<string, string>,
  fn: (client: Awaited<ReturnType<Awaited<ReturnType<typeof serveA2A>>["client"]>>) => Promise<T>,
): Promise<T> {
  await using server = await serveA2A(tmp, { env: variables })
  const result = await fn(await server.client())
  server.child.process.kill("SIGTERM")
  await server.child.exit
  return result
}
