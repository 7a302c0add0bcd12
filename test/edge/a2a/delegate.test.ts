// A vitamin gives tasks to another one over A2A: with permission, through the crash of either, and canceled with the turn.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { startVitamin, vitamin } from "../../fixture/cli.ts"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { allowed, go, serveA2A, waiting } from "./harness.ts"
import { twoVitamins } from "./two-vitamins.ts"

const asks = call("subtask", { task: "review the change", agent: "reviewer" })
const mayAsk = ["--allow", "agent.remote:reviewer"]
const begun = (tmp: Tmp) => until(() => existsSync(join(tmp.path, "begun")), "the command begins")
const names = { first: "reviewer", second: "author" }

test("a task is given to a remote agent, and the model gets its result", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm([asks, text("The reviewer likes it.")])
  await using farLlm = await fakeLlm([call("read", { path: "README.md" }), text("I like it.")])
  await using _ = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  const { code, out, err } = await vitamin(
    near.tmp,
    ["run", ...mayAsk, "ask for a review"],
    near.env(nearLlm),
  )
  assert.deepEqual([code, out.split("\n")[0]], [0, "The reviewer likes it."], err)
  assert.match(farLlm.requests[0]!.raw, /review the change/)
  assert.match(nearLlm.requests[1]!.raw, /I like it\./)
  // The model learns of the agent by the words of the configuration, and no tool is added for it.
  assert.match(nearLlm.requests[0]!.raw, /- reviewer: Reviews changes\./)
  assert.doesNotMatch(nearLlm.requests[0]!.raw, /a2a/i)
  const shown = await vitamin(near.tmp, ["agent", "list"], near.env(nearLlm))
  assert.match(shown.out, /reviewer +subagent +specialist +general +Reviews changes\./)
})

test("without permission nothing is sent: nobody to ask, a deny rule, plan mode, another permission", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using farLlm = await fakeLlm([])
  await using served = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  for (const args of [
    [],
    ["--yes", "--deny", "agent.remote"],
    ["--yes", "--mode", "plan"],
    ["--allow", "agent.delegate"],
  ]) {
    await using nearLlm = await fakeLlm([asks, text("Not asked.")])
    const { out, err } = await vitamin(near.tmp, ["run", ...args, "ask for a review"], near.env(nearLlm))
    assert.match(out, /Not asked\./, err)
    assert.match(nearLlm.requests[1]!.raw, /agent\.remote/)
  }
  assert.equal((await served.rpc("ListTasks", {})).result.totalSize, 0)
})

test("the remote agent can be prompted directly, and the next prompt continues its context", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm([])
  await using farLlm = await fakeLlm([text("Seven."), text("You asked for a number.")])
  await using _ = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  const first = await vitamin(near.tmp, ["run", "--agent", "reviewer", "a number?"], near.env(nearLlm))
  assert.match(first.out, /^Seven\./, first.err)
  const second = await vitamin(near.tmp, ["run", "-c", "what did I ask?"], near.env(nearLlm))
  assert.match(second.out, /^You asked for a number\./, second.err)
  assert.match(farLlm.requests[1]!.raw, /a number\?.*Seven\./s)
  assert.equal(nearLlm.requests.length, 0)
})

test("two vitamins delegate to each other; the far one is killed in the middle, restarted, and finishes", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm(({ raw }) => {
    if (/which port\?/.test(raw)) return text("Port 80.")
    return /"role":"tool"/.test(raw) ? text("Reviewed at last.") : asks
  })
  const back = call("subtask", { task: "which port?", agent: "author" })
  await using farLlm = await fakeLlm([back, waiting, text("It is port 80: fine.")])
  const args = [...allowed, "--allow", "agent.remote:author"]
  await using nearServed = await serveA2A(near.tmp, { port: near.port, args: mayAsk, env: near.env(nearLlm) })
  const first = await serveA2A(far.tmp, { port: far.port, args, env: far.env(farLlm) })
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "ask for a review" }] }
  const answered = nearServed.rpc("SendMessage", { message })
  await begun(far.tmp)
  first.child.process.kill("SIGKILL")
  await first.child.exit
  await using _ = await serveA2A(far.tmp, { port: far.port, args, env: far.env(farLlm) })
  const { result } = await answered
  assert.equal(result.task.status.state, "TASK_STATE_COMPLETED", JSON.stringify(result))
  assert.equal(result.task.artifacts[0].parts[0].text, "Reviewed at last.")
  const last = nearLlm.requests.at(-1)!.raw
  assert.match(last, /It is port 80: fine\./)
  // The same task went on: its model was told of the interruption and of the answer that it had got before.
  assert.match(farLlm.requests[2]!.raw, /Port 80\..*interrupted.*restarted/s)
  go(far.tmp)
})

test("after a crash of the near one, the same call takes the result of the task that went on", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm([asks, asks, text("The reviewer likes it.")])
  await using farLlm = await fakeLlm([waiting, text("I like it.")])
  await using served = await serveA2A(far.tmp, { port: far.port, args: allowed, env: far.env(farLlm) })
  const child = startVitamin(near.tmp, ["run", ...mayAsk, "ask for a review"], near.env(nearLlm))
  await begun(far.tmp)
  // The id of the task is on the disk once the far one works on it and the near one has read so.
  await until(async () =>
    /"taskId"/.test((await vitamin(near.tmp, ["session", "list", "--tasks", "--format", "json"])).out),
  )
  child.process.kill("SIGKILL")
  await child.exit
  go(far.tmp)
  const { out, err } = await vitamin(near.tmp, ["run", "-c", ...mayAsk, "go on"], near.env(nearLlm))
  assert.match(out, /^The reviewer likes it\./, err)
  assert.match(nearLlm.requests[2]!.raw, /I like it\./)
  assert.equal((await served.rpc("ListTasks", {})).result.totalSize, 1)
  assert.equal(farLlm.requests.length, 2)
})

test("an interrupted turn cancels its remote task", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm([asks])
  await using farLlm = await fakeLlm([waiting])
  await using served = await serveA2A(far.tmp, { port: far.port, args: allowed, env: far.env(farLlm) })
  await using child = startVitamin(near.tmp, ["run", ...mayAsk, "ask for a review"], near.env(nearLlm))
  await begun(far.tmp)
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130)
  const { result } = await served.rpc("ListTasks", {})
  assert.equal(result.tasks[0].status.state, "TASK_STATE_CANCELED")
  go(far.tmp)
})

test("a question of the remote agent reaches the person; without one the task is canceled", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  const touch = call("bash", { command: "touch made" })
  await using farLlm = await fakeLlm([touch, touch, text("Made it.")])
  await using served = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  await using alone = await fakeLlm([asks, text("It needed a permission.")])
  const headless = await vitamin(near.tmp, ["run", ...mayAsk, "ask for a review"], near.env(alone))
  assert.match(headless.out, /It needed a permission\./, headless.err)
  assert.match(alone.requests[1]!.raw, /needs something that nobody gave: Allow bash/)
  assert.equal((await served.rpc("ListTasks", {})).result.tasks[0].status.state, "TASK_STATE_CANCELED")
  await using nearLlm = await fakeLlm([asks, text("Done.")])
  await using terminal = openTerminal(near.tmp, ["run", ...mayAsk, "ask for a review"], {
    env: near.env(nearLlm),
  })
  await terminal.sees(/The remote agent reviewer asks:\s+Allow bash: bash\.execute of "touch made"\?/)
  await terminal.sees(/\[c\]ancel: /)
  terminal.type("a\n")
  await terminal.sees(/answer \(required\) Answer: /)
  terminal.type("once\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.ok(existsSync(join(far.tmp.path, "made")))
  assert.match(nearLlm.requests[1]!.raw, /Made it\./)
})

test("a question of the far one passes through a server in between to its client, and the answer back", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm([asks, text("Done.")])
  await using farLlm = await fakeLlm([call("bash", { command: "touch made" }), text("Made it.")])
  await using between = await serveA2A(near.tmp, { port: near.port, args: mayAsk, env: near.env(nearLlm) })
  await using _ = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "ask for a review" }] }
  const asked = (await between.rpc("SendMessage", { message })).result.task
  assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED")
  assert.match(asked.status.message.parts[0].text, /The remote agent reviewer asks:\nAllow bash/)
  const answer = { ...message, messageId: "n", taskId: asked.id, parts: [{ data: { answer: "once" } }] }
  const { task } = (await between.rpc("SendMessage", { message: answer })).result
  assert.equal(task.status.state, "TASK_STATE_COMPLETED")
  assert.ok(existsSync(join(far.tmp.path, "made")))
})

test("an orchestrator delegates to a remote agent, with the same permission", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  const delegates = call("delegate", { agent: "reviewer", task: "review the change" })
  await using nearLlm = await fakeLlm([delegates, text("Not asked."), delegates, text("Reviewed.")])
  await using farLlm = await fakeLlm([text("I like it.")])
  await using served = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  const run = (...args: string[]) =>
    vitamin(near.tmp, ["run", "--agent", "orchestrator", ...args, "go"], near.env(nearLlm))
  const denied = await run()
  assert.match(denied.out, /Not asked\./, denied.err)
  assert.equal((await served.rpc("ListTasks", {})).result.totalSize, 0)
  const { out, err } = await run(...mayAsk)
  assert.match(out, /Reviewed\./, err)
  assert.match(nearLlm.requests[2]!.raw, /- reviewer: Reviews changes\./)
  assert.match(nearLlm.requests[3]!.raw, /I like it\./)
})

test("two vitamins that give every task back to each other come to an end", async () => {
  await using sides = await twoVitamins({ first: "other", second: "other" })
  const [near, far] = sides
  const back = call("subtask", { task: "you do it", agent: "other" })
  const script = ({ raw }: { raw: string }) =>
    /"role":"tool"/.test(raw) ? text(/passed on/.test(raw) ? "Too often." : "Passed.") : back
  await using nearLlm = await fakeLlm(script)
  await using farLlm = await fakeLlm(script)
  const args = ["--allow", "agent.remote"]
  await using served = await serveA2A(near.tmp, { port: near.port, args, env: near.env(nearLlm) })
  await using _ = await serveA2A(far.tmp, { port: far.port, args, env: far.env(farLlm) })
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "do it" }] }
  const { task } = (await served.rpc("SendMessage", { message })).result
  assert.equal(task.artifacts[0].parts[0].text, "Passed.")
  assert.equal(nearLlm.requests.length + farLlm.requests.length, 10)
})

test("a remote agent that is away or refuses the token is an error for the model, not a crash", async () => {
  await using sides = await twoVitamins(names)
  const [near, far] = sides
  await using nearLlm = await fakeLlm([asks, text("It is away."), asks, text("It refused.")])
  const away = await vitamin(near.tmp, ["run", ...mayAsk, "ask"], near.env(nearLlm))
  assert.match(away.out, /It is away\./, away.err)
  await using farLlm = await fakeLlm([])
  await using _ = await serveA2A(far.tmp, { port: far.port, env: far.env(farLlm) })
  const variables = { ...near.env(nearLlm), PEER_TOKEN: "a wrong token" }
  const refused = await vitamin(near.tmp, ["run", ...mayAsk, "ask"], variables)
  assert.match(refused.out, /It refused\./, refused.err)
  assert.match(nearLlm.requests[3]!.raw, /it refuses the token \(status 401\)/)
  assert.doesNotMatch(nearLlm.requests[3]!.raw, /a wrong token/)
})
