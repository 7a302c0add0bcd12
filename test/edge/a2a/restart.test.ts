// Tasks survive their server: what has ended stays, and what a crash or a stop interrupted is reported and can be
// continued.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import {
  allowed,
  atOnce,
  describe,
  go,
  resultOf,
  saidIn,
  say,
  serveA2A,
  stateOf,
  taskOf,
  waiting,
} from "./harness.ts"

const begun = (tmp: Tmp) => until(() => existsSync(join(tmp.path, "begun")), "the command begins")

test("a completed task is the same after a restart", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const { variables } = env(llm, "chat")
  await using first = await serveA2A(tmp, { env: variables })
  const task = taskOf(await (await first.client()).sendMessage(say("go")))
  first.child.process.kill("SIGKILL")
  await first.child.exit
  await using second = await serveA2A(tmp, { env: variables })
  assert.deepEqual(await (await second.client()).getTask({ id: task.id, tenant: "" }), task)
})

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`a task that worked at ${signal} waits for input after the restart, and a message continues it`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([waiting, text("Went on.")])
    const { variables } = env(llm, "chat")
    await using first = await serveA2A(tmp, { args: allowed, env: variables })
    const { id } = taskOf(await (await first.client()).sendMessage(say("wait", {}, atOnce)))
    await begun(tmp)
    first.child.process.kill(signal)
    await first.child.exit
    await using second = await serveA2A(tmp, { args: allowed, env: variables })
    const client = await second.client()
    const left = await client.getTask({ id, tenant: "" })
    assert.equal(stateOf(left), "input_required")
    assert.match(saidIn(left.status), /server stopped while it worked/)
    assert.equal(left.metadata?.interrupted, true)
    const only = await Array.fromAsync(client.resubscribeTask({ id, tenant: "" }), describe)
    assert.deepEqual(only, ["task input_required"])
    const ended = taskOf(await client.sendMessage(say("continue", { taskId: id })))
    assert.deepEqual([stateOf(ended), resultOf(ended), ended.id], ["completed", "Went on.", id])
    assert.equal(ended.metadata?.interrupted, undefined)
    // The session is the same one: its model reads what was interrupted.
    assert.match(llm.requests[1]!.raw, /wait.*interrupted.*continue/s)
    go(tmp)
  })

test("an interrupted task can be canceled after the restart", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting])
  const { variables } = env(llm, "chat")
  await using first = await serveA2A(tmp, { args: allowed, env: variables })
  const { id } = taskOf(await (await first.client()).sendMessage(say("wait", {}, atOnce)))
  await begun(tmp)
  first.child.process.kill("SIGKILL")
  await first.child.exit
  go(tmp)
  await using second = await serveA2A(tmp, { env: variables })
  const client = await second.client()
  assert.equal(stateOf(await client.cancelTask({ id, tenant: "", metadata: undefined })), "canceled")
  assert.equal(stateOf(await client.getTask({ id, tenant: "" })), "canceled")
})

test("a second server of the folder shows the tasks of the first one as they are", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("Went.")])
  const { variables } = env(llm, "chat")
  await using first = await serveA2A(tmp, { args: allowed, env: variables })
  await using second = await serveA2A(tmp, { env: variables })
  const { id } = taskOf(await (await first.client()).sendMessage(say("wait", {}, atOnce)))
  await begun(tmp)
  const { result } = await second.rpc("GetTask", { id })
  assert.equal(result.status.state, "TASK_STATE_WORKING")
  const message = { messageId: "m", role: "ROLE_USER", taskId: id, parts: [{ text: "me too" }] }
  assert.equal((await second.rpc("SendMessage", { message })).error?.code, -32004)
  const canceled = await second.rpc("CancelTask", { id })
  assert.equal(canceled.error?.code, -32002, "the task would go on")
  assert.equal((await first.rpc("GetTask", { id })).result.status.state, "TASK_STATE_WORKING")
  go(tmp)
  await until(
    async () => (await second.rpc("GetTask", { id })).result.status.state === "TASK_STATE_COMPLETED",
  )
})

test("a question that was open at a crash is asked again when the task continues", async () => {
  await using tmp = await tmpdir({ git: true })
  const touch = call("bash", { command: "touch made" })
  await using llm = await fakeLlm([touch, touch, text("Made.")])
  const { variables } = env(llm, "chat")
  await using first = await serveA2A(tmp, { env: variables })
  const asked = taskOf(await (await first.client()).sendMessage(say("make it")))
  assert.equal(stateOf(asked), "input_required")
  first.child.process.kill("SIGKILL")
  await first.child.exit
  await using second = await serveA2A(tmp, { env: variables })
  const client = await second.client()
  const again = taskOf(await client.sendMessage(say("go on", { taskId: asked.id })))
  assert.equal(stateOf(again), "input_required")
  assert.equal(existsSync(join(tmp.path, "made")), false)
  const ended = taskOf(await client.sendMessage(say("once", { taskId: asked.id })))
  assert.deepEqual([stateOf(ended), existsSync(join(tmp.path, "made"))], ["completed", true])
})
