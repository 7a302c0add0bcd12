// Every operation of the JSON-RPC binding, by the SDK's own client over a real socket to the built command.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { TaskState } from "@a2a-js/sdk"
import { TaskNotFoundError } from "@a2a-js/sdk/errors"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import {
  allowed,
  atOnce,
  describe,
  go,
  resultOf,
  say,
  serveA2A,
  stateOf,
  taskOf,
  type Wire,
  waiting,
} from "./harness.ts"

test("SendMessage waits for the answer, and GetTask returns the task with its result", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("It is a fixture.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const task = taskOf(await client.sendMessage(say("what is this?")))
  assert.equal(stateOf(task), "completed")
  assert.equal(resultOf(task), "It is a fixture.")
  const again = await client.getTask({ id: task.id, tenant: "" })
  assert.deepEqual(again, task)
  assert.equal(again.history[0]!.parts[0]!.content!.value, "what is this?")
  assert.match(JSON.stringify(llm.requests[0]!.body), /what is this\?/)
})

test("SendStreamingMessage streams the task, its progress, its result and its end", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("It is a fixture.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const seen: string[] = []
  for await (const update of client.sendMessageStream(say("what is this?"))) seen.push(describe(update))
  assert.deepEqual(seen, [
    "task submitted",
    "working",
    "working · read README.md:1-1",
    "result It is a fixture.",
    "completed",
  ])
})

test("a message with the context of an earlier task continues its session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Blue."), text("You asked for a colour.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const first = taskOf(await client.sendMessage(say("a colour?")))
  const second = taskOf(await client.sendMessage(say("what did I ask?", { contextId: first.contextId })))
  assert.equal(second.contextId, first.contextId)
  assert.notEqual(second.id, first.id)
  assert.equal(second.metadata?.sessionId, first.metadata?.sessionId)
  assert.match(llm.requests[1]!.raw, /a colour\?.*Blue\..*what did I ask\?/s)
})

test("tasks of one context run one after the other, and one that waits can be canceled", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("First."), text("Third.")])
  await using served = await serveA2A(tmp, { args: allowed, env: env(llm, "chat").variables })
  const client = await served.client()
  const contextId = "one context"
  const first = taskOf(await client.sendMessage(say("one", { contextId }, atOnce)))
  await until(() => existsSync(join(tmp.path, "begun")), "the command begins")
  const second = taskOf(await client.sendMessage(say("two", { contextId }, atOnce)))
  const third = client.sendMessage(say("three", { contextId }))
  assert.equal(stateOf(await client.getTask({ id: first.id, tenant: "" })), "working")
  assert.equal(stateOf(await client.getTask({ id: second.id, tenant: "" })), "submitted")
  const canceled = await client.cancelTask({ id: second.id, tenant: "", metadata: undefined })
  assert.equal(stateOf(canceled), "canceled")
  go(tmp)
  assert.equal(resultOf(taskOf(await third)), "Third.")
  assert.equal(resultOf(await client.getTask({ id: first.id, tenant: "" })), "First.")
  assert.doesNotMatch(llm.requests[2]!.raw, /two/)
})

test("CancelTask ends the running command and the task", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("never")])
  await using served = await serveA2A(tmp, { args: allowed, env: env(llm, "chat").variables })
  const client = await served.client()
  const task = taskOf(await client.sendMessage(say("wait", {}, atOnce)))
  await until(() => existsSync(join(tmp.path, "begun")), "the command begins")
  const canceled = await client.cancelTask({ id: task.id, tenant: "", metadata: undefined })
  assert.equal(stateOf(canceled), "canceled")
  assert.equal(stateOf(await client.getTask({ id: task.id, tenant: "" })), "canceled")
  go(tmp)
  assert.equal(llm.requests.length, 1)
})

test("SubscribeToTask follows a task that is at work", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([waiting, text("Went.")])
  await using served = await serveA2A(tmp, { args: allowed, env: env(llm, "chat").variables })
  const client = await served.client()
  const task = taskOf(await client.sendMessage(say("wait", {}, atOnce)))
  await until(() => existsSync(join(tmp.path, "begun")), "the command begins")
  const seen: string[] = []
  for await (const update of client.resubscribeTask({ id: task.id, tenant: "" })) {
    seen.push(describe(update))
    if (seen.length === 1) go(tmp)
  }
  assert.equal(seen[0], "task working")
  assert.deepEqual(seen.slice(-2), ["result Went.", "completed"])
})

test("ListTasks filters by context and state, and pages with a cursor", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const tasks = []
  for (const words of ["one", "two", "three"]) tasks.push(taskOf(await client.sendMessage(say(words))))
  const all = {
    tenant: "",
    contextId: "",
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: "",
    statusTimestampAfter: undefined,
  }
  const first = await client.listTasks({ ...all, pageSize: 2 })
  assert.deepEqual([first.tasks.map(({ id }) => id), first.totalSize], [[tasks[2]!.id, tasks[1]!.id], 3])
  assert.deepEqual(first.tasks[0]!.artifacts, [])
  const second = await client.listTasks({
    ...all,
    pageSize: 2,
    pageToken: first.nextPageToken,
    includeArtifacts: true,
  })
  assert.deepEqual(
    second.tasks.map(({ id }) => id),
    [tasks[0]!.id],
  )
  assert.equal(resultOf(second.tasks[0]!), "Done.")
  assert.equal(second.nextPageToken, "")
  const ofContext = await client.listTasks({ ...all, contextId: tasks[1]!.contextId })
  assert.deepEqual(
    ofContext.tasks.map(({ id }) => id),
    [tasks[1]!.id],
  )
  const failed = await client.listTasks({ ...all, status: TaskState.TASK_STATE_FAILED })
  assert.deepEqual([failed.tasks, failed.totalSize], [[], 0])
})

test("push notification configurations are created, read, listed and deleted", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const target = "http://127.0.0.1:9/"
  await using served = await serveA2A(tmp, {
    args: ["--allow", `network.fetch:${target}*`],
    env: env(llm, "chat").variables,
  })
  const client = await served.client()
  const { id: taskId } = taskOf(await client.sendMessage(say("go")))
  const config = { tenant: "", id: "", taskId, url: target, token: "t", authentication: undefined }
  const created = await client.createTaskPushNotificationConfig(config)
  assert.ok(created.id)
  const { id } = created
  assert.deepEqual(await client.getTaskPushNotificationConfig({ taskId, id, tenant: "" }), created)
  const request = { taskId, tenant: "", pageToken: "", pageSize: 10 }
  assert.deepEqual((await client.listTaskPushNotificationConfig(request)).configs, [created])
  await client.deleteTaskPushNotificationConfig({ taskId, id, tenant: "" })
  assert.deepEqual((await client.listTaskPushNotificationConfig(request)).configs, [])
  await assert.rejects(client.getTaskPushNotificationConfig({ taskId, id, tenant: "" }), TaskNotFoundError)
})

test("the card names every agent as a skill, and the extended card also the project", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    ".vitamin/agents/poet.md",
    "---\ncapabilities: [verse.write]\nmetadata:\n  description: Writes verse.\n---\nRhyme.\n",
  )
  await using llm = await fakeLlm([text("A verse.")])
  await using served = await serveA2A(tmp, { args: ["--trust"], env: env(llm, "chat").variables })
  const response = await fetch(`${served.url}/.well-known/agent-card.json`)
  assert.equal(response.status, 200)
  const card = (await response.json()) as Wire
  assert.deepEqual(card.supportedInterfaces, [
    { url: `${served.url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ])
  assert.deepEqual(
    card.skills.find(({ id }: { id: string }) => id === "poet"),
    {
      id: "poet",
      name: "poet",
      description: "Writes verse.",
      tags: ["general", "specialist", "verse.write"],
    },
  )
  assert.ok(card.skills.some(({ id }: { id: string }) => id === "build"))
  assert.equal(card.securitySchemes.token.httpAuthSecurityScheme.scheme, "Bearer")
  const client = await served.client()
  assert.match((await client.getAgentCard()).description, /The folder: project\./)
  const task = taskOf(await client.sendMessage(say("a verse", { metadata: { skill: "poet" } })))
  assert.equal(resultOf(task), "A verse.")
  assert.match(llm.requests[0]!.system ?? "", /Rhyme\./)
})
