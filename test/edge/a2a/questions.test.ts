// A task that needs a permission waits for input; a message with the answer continues it.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { describe, resultOf, saidIn, say, serveA2A, stateOf, taskOf, type Wire } from "./harness.ts"

const touch = (name: string) => call("bash", { command: `touch ${name}` })

test("a permission is asked for, and once allows this call only", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([touch("one"), touch("two"), text("One of two.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const asked = taskOf(await client.sendMessage(say("make both")))
  assert.equal(stateOf(asked), "input_required")
  assert.match(
    saidIn(asked.status),
    /Allow bash: bash\.execute of "touch one"\?\nAnswer with: once, session, reject/,
  )
  const data = asked.status!.message!.parts[1]!.content!
  assert.deepEqual((data.value as Wire).question.needs, [{ permission: "bash.execute", target: "touch one" }])
  const second = taskOf(await client.sendMessage(say("once", { taskId: asked.id })))
  assert.match(saidIn(second.status), /touch two/)
  const ended = taskOf(await client.sendMessage(say("not that one", { taskId: asked.id })))
  assert.equal(resultOf(ended), "One of two.")
  assert.deepEqual(
    ["one", "two"].map((name) => existsSync(join(tmp.path, name))),
    [true, false],
  )
  assert.match(llm.requests[2]!.raw, /not that one/)
  const roles = ended.history.map(({ role }) => role)
  assert.deepEqual(roles, [1, 2, 1, 2, 1])
})

test("session allows the same for the rest of the session, and stores no lasting rule", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([touch("one"), touch("one"), text("Both."), touch("one"), text("Again.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const asked = taskOf(await client.sendMessage(say("twice")))
  const ended = taskOf(await client.sendMessage(say("session", { taskId: asked.id })))
  assert.equal(resultOf(ended), "Both.")
  const other = taskOf(await client.sendMessage(say("in a new session")))
  assert.equal(stateOf(other), "input_required")
})

test("two questions at once are answered one after the other", async () => {
  await using tmp = await tmpdir({ git: true })
  const two = calls([
    call("subtask", { task: "make one", agent: "build" }, { id: "a" }),
    call("subtask", { task: "make two", agent: "build" }, { id: "b" }),
  ])
  await using llm = await fakeLlm((request) => {
    const last = JSON.stringify(request.body)
    if (/make (one|two)/.test(last) && !/delegating/.test(last)) {
      const [, name] = /make (one|two)/.exec(last)!
      return /"role":"tool"/.test(last) ? text(`Made ${name}.`) : touch(name!)
    }
    return /"role":"tool"/.test(last) ? text("Both made.") : two
  })
  await using served = await serveA2A(tmp, {
    args: ["--allow", "agent.delegate"],
    env: env(llm, "chat").variables,
  })
  const client = await served.client()
  let task = taskOf(await client.sendMessage(say("delegating")))
  for (let answers = 0; stateOf(task) === "input_required" && answers < 4; answers++)
    task = taskOf(await client.sendMessage(say("once", { taskId: task.id })))
  assert.equal(resultOf(task), "Both made.")
  assert.deepEqual(
    ["one", "two"].map((name) => existsSync(join(tmp.path, name))),
    [true, true],
  )
})

test("the answer can be streamed, and a stream of the task stays open over a question", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([touch("one"), text("Made.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const client = await served.client()
  const first = await Array.fromAsync(client.sendMessageStream(say("make it")), describe)
  assert.match(first.at(-1)!, /^input_required Allow bash/)
  const { result } = await served.rpc("ListTasks", {})
  const { id } = result.tasks[0]
  const following = client.resubscribeTask({ id, tenant: "" })
  assert.equal(describe((await following.next()).value!), "task input_required")
  const seen = await Array.fromAsync(client.sendMessageStream(say("once", { taskId: id })), describe)
  assert.deepEqual([seen[0], seen.at(-1)], ["task working", "completed"])
  assert.equal((await Array.fromAsync(following, describe)).at(-1), "completed")
})

test("--yes allows, and a deny rule denies, both without a question", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([touch("one"), touch("two"), text("One.")])
  const args = ["--yes", "--deny", "bash.execute:touch two"]
  await using served = await serveA2A(tmp, { args, env: env(llm, "chat").variables })
  const task = taskOf(await (await served.client()).sendMessage(say("make both")))
  assert.equal(resultOf(task), "One.")
  assert.deepEqual(
    ["one", "two"].map((name) => existsSync(join(tmp.path, name))),
    [true, false],
  )
})
