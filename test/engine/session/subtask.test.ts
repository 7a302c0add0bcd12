// Tasks that one agent gives to another, in sessions of their own.
import assert from "node:assert/strict"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Session from "#engine/session/session.ts"
import type * as Bus from "#kernel/bus/bus.ts"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { call, calls, type Reply, type Request, stall, status, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf, textOf } from "./harness.ts"

const allowed = { rules: [{ permission: "agent.delegate", pattern: "*", action: "allow" as const }] }
const saysFirst = ({ messages }: Request) => messages[0]?.text ?? ""
const tasksOf = async (sessionId: string) =>
  (await Session.list({ tasks: true })).filter(({ taskOf }) => taskOf?.sessionId === sessionId)

test("subtask runs its own session with the same agent and model, and returns its last answer", async () => {
  const script = [
    call("subtask", { task: "Count the files" }),
    call("ls"),
    text("There are two."),
    text("Two files."),
  ]
  await inWorld(script, async ({ ask, messages, llm, session }) => {
    assert.equal(textOf(await ask("How many files?", allowed)), "Two files.")
    const [result] = resultsOf(await messages())
    assert.deepEqual([result?.status, result?.output], ["success", "There are two."])
    const [child] = await tasksOf(session.id)
    assert.deepEqual(result?.metadata?.data, { sessionId: child?.id })
    assert.deepEqual([child?.agent, child?.model, child?.status], ["build", "openai/fake-model", "idle"])
    assert.equal(child?.title, "Count the files")
    assert.equal(saysFirst(llm.requests[1]!), "Count the files")
    assert.match(llm.requests[1]!.system, /one task for another agent/)
    assert.doesNotMatch(llm.requests[0]!.system, /one task for another agent/)
  })
})

test("subtask with an agent uses that agent's prompt, tools and model", async () => {
  const script = [call("subtask", { task: "t", agent: "scout" }), text("found"), text("done")]
  await inWorld(
    script,
    async ({ ask, llm }) => {
      defineAgent({ id: "scout", systemPrompt: "You scout.", tools: ["ls"], model: "openai/small" })
      await ask("x", allowed)
      const [own, child] = llm.requests
      assert.deepEqual([own!.model, child!.model], ["fake-model", "small"])
      assert.match(child!.system, /You scout\./)
      assert.deepEqual(
        child!.tools.map(({ name }) => name),
        ["ls"],
      )
    },
    { config: { provider: { openai: { models: { small: {} } } } } },
  )
})

test("subtask adds its usage to its parent session", async () => {
  const usage = { input: 1_000, output: 100 }
  const script = [call("subtask", { task: "t" }, { usage }), text("a", { usage }), text("b", { usage })]
  await inWorld(script, async ({ ask, session }) => {
    await ask("x", allowed)
    const { usage } = await Session.get(session.id)
    assert.deepEqual([usage.input, usage.output], [3_000, 300])
    assert.equal((await tasksOf(session.id))[0]?.usage.input, 1_000)
  })
})

test("the cost of a subtask counts before the next request", async () => {
  const usage = { input: 1_000_000, output: 0 }
  const openai = { models: { "fake-model": { cost: { input: 1, output: 1 } } } }
  const script = [call("subtask", { task: "t" }), text("dear", { usage }), text("never")]
  await inWorld(
    script,
    async ({ ask, llm }) => {
      await assert.rejects(ask("x", { ...allowed, maxCost: 0.5 }), { name: "Session.CostLimit" })
      assert.equal(llm.requests.length, 2)
    },
    { config: { provider: { openai } } },
  )
})

test("subtask needs its own permission, and its session has no more rights than its parent", async () => {
  const script = [
    call("subtask", { task: "t" }),
    text("no"),
    call("subtask", { task: "t", agent: "free" }),
    call("write", { path: "a.txt", content: "x" }),
    text("could not"),
    text("done"),
  ]
  await inWorld(script, async ({ ask, messages, session }) => {
    const permissions = [{ permission: "file.write", pattern: "**", action: "allow" as const }]
    defineAgent({ id: "free", permissions })
    await ask("one", { asks: "deny" })
    assert.match(String(resultsOf(await messages())[0]?.output), /agent\.delegate/)
    assert.deepEqual(await tasksOf(session.id), [])
    await ask("two", { asks: "deny", ...allowed })
    const [child] = await tasksOf(session.id)
    const [write] = resultsOf(await Session.messages(child!.id))
    assert.equal(write?.status, "error")
    assert.match(String(write?.output), /file\.write/)
  })
})

test("a failed subtask is an error result with the reason, and the session continues", async () => {
  const script = [
    calls([call("subtask", { task: "t" }), call("subtask", { task: "u", agent: "nobody" })]),
    status(400, { message: "no such model" }),
    text("went on"),
  ]
  await inWorld(script, async ({ ask, messages, session }) => {
    assert.equal(textOf(await ask("x", allowed)), "went on")
    const [failed, missing] = resultsOf(await messages())
    assert.deepEqual([failed?.status, missing?.status], ["error", "error"])
    assert.match(String(failed?.output), /subtask \(session sess_\w+\) failed: .*no such model/)
    assert.match(String(missing?.output), /Agent "nobody" does not exist\. Available: auto, build, .*plan/)
    assert.equal((await tasksOf(session.id)).length, 1)
  })
})

test("subtask for an unknown agent fails without a permission question", async () => {
  await inWorld([call("subtask", { task: "t", agent: "biuld" }), text("went on")], async (world) => {
    assert.equal(textOf(await world.ask("x")), "went on")
    const [result] = resultsOf(await world.messages())
    assert.match(String(result?.output), /Agent "biuld" does not exist/)
    const asked = world.events.filter(({ type }) => type === "permission.requested")
    assert.deepEqual(asked, [])
  })
})

test("subtasks nest three levels deep and no deeper", async () => {
  const depths: number[] = []
  const script = ({ messages }: Request): Reply => {
    const depth = Number(/level (\d)/.exec(messages[0]!.text)![1])
    const result = messages.at(-1)?.results[0]
    if (result) return text(result.text)
    depths.push(depth)
    return call("subtask", { task: `level ${depth + 1}` })
  }
  await inWorld(script, async ({ ask }) => {
    assert.match(textOf(await ask("level 0", allowed)), /at most 3 levels deep/)
    assert.deepEqual(depths, [0, 1, 2, 3])
  })
})

test("subtasks of one answer run side by side, ten at once, with results in order", async () => {
  const names = [..."abcdefghijkl"]
  const script = (request: Request): Reply => {
    const first = saysFirst(request)
    const isLater = request.messages.length > 1
    if (first === "go") return isLater ? text("done") : calls(names.map((task) => call("subtask", { task })))
    return isLater || first > "j" ? text(`did ${first}`) : call("meet")
  }
  await inWorld(script, async ({ ask, messages, events }) => {
    const arrived: (() => void)[] = []
    // Each call waits for ten, so that ten run at once.
    defineTool("meet", async () => {
      await new Promise<void>((resolve) => arrived.push(resolve) && arrived.length === 10 && open())
      return "met"
    })
    const open = () => {
      for (const go of arrived) go()
    }
    await ask("go", allowed)
    assert.deepEqual(
      resultsOf(await messages()).map(({ output }) => output),
      names.map((name) => `did ${name}`),
    )
    assert.equal(mostBusy(events), 10)
  })
})

/** The most sessions of tasks that were busy at once, by the events. */
function mostBusy(events: Bus.Event[]): number {
  const busy = new Set<string>()
  return Math.max(
    ...events.map(({ type, payload }) => {
      const { session } = payload as { session?: Session.Info }
      if (type === "session.updated" && session?.taskOf)
        session.status === "busy" ? busy.add(session.id) : busy.delete(session.id)
      return busy.size
    }),
  )
}

test("aborting a session aborts its tasks, and the next prompt works", async () => {
  const script = [call("subtask", { task: "t" }), stall(text("half of an answer"), 200), text("again")]
  await inWorld(script, async ({ ask, session, llm, messages, status }) => {
    const work = ask("x", allowed, { stall: 60_000 })
    work.catch(() => {})
    await until(() => llm.requests.length === 2)
    Session.abort(session.id)
    await assert.rejects(work, { name: "Session.Interrupted" })
    const [child] = await tasksOf(session.id)
    assert.deepEqual([await status(), child?.status], ["interrupted", "interrupted"])
    assert.equal(resultsOf(await messages())[0]?.status, "interrupted")
    // Its usage until then counts.
    assert.equal((await Session.get(session.id)).usage.input, 100)
    assert.equal(textOf(await ask("y")), "again")
  })
})

test("sessions of tasks are listed only on request, become ordinary when forked or imported, and are removed with their parent", async () => {
  await inWorld([call("subtask", { task: "t" }), text("a"), text("b")], async ({ ask, session }) => {
    await ask("x", allowed)
    const [child] = await tasksOf(session.id)
    const ids = async () => (await Session.list()).map(({ id }) => id)
    assert.deepEqual(await ids(), [session.id])
    const forked = await Session.fork(child!.id)
    assert.equal(forked.taskOf, undefined)
    const imported = await Session.import(await Session.export(child!.id))
    assert.equal(imported.taskOf, undefined)
    assert.deepEqual((await ids()).sort(), [session.id, forked.id, imported.id].sort())
    await Session.remove(session.id)
    await assert.rejects(Session.get(child!.id), { name: "Session.NotFound" })
    assert.deepEqual((await ids()).sort(), [forked.id, imported.id].sort())
  })
})

test("processes that a finished task left running end when the parent turn is aborted", async () => {
  const nap = uniqueNap()
  const command = `setsid sleep ${nap} > /dev/null 2>&1 < /dev/null & sleep 0.2`
  const script = [
    call("subtask", { task: "t" }),
    call("bash", { command }),
    text("started"),
    stall(text("never"), 0),
  ]
  await inWorld(script, async ({ ask, llm, session }) => {
    const answer = ask("go", { asks: "once" }, { stall: 60_000 })
    answer.catch(() => {})
    await until(() => llm.requests.length === 4, "the request after the task")
    assert.equal(running(nap).length, 1)
    Session.abort(session.id)
    await assert.rejects(answer, { name: "Session.Interrupted" })
    await until(() => running(nap).length === 0, "the end of what the task left")
  })
})
