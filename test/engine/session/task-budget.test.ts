// The cost limit applies to a prompt and all its tasks together, parallel ones included.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { call, calls, type Reply, type Request } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf } from "./harness.ts"

const rules = [{ permission: "agent.delegate", pattern: "*", action: "allow" as const }]
const config = { provider: { openai: { models: { "fake-model": { cost: { input: 1, output: 1 } } } } } }
const free = { usage: { input: 0, output: 0 } }
const dollar = { usage: { input: 1_000_000, output: 0 } }
const maxCost = 1.5

test("ten parallel tasks exceed the cost limit by at most one request each, and no further task begins", async () => {
  const names = [..."abcdefghijkl"]
  const asked = new Map<string, number>()
  const script = ({ messages }: Request): Reply => {
    const task = messages[0]?.text ?? ""
    asked.set(task, (asked.get(task) ?? 0) + 1)
    if (task === "go") return calls(names.map((name) => call("subtask", { task: name }, free)))
    return asked.get(task) === 1 ? call("meet", {}, free) : call("ls", {}, dollar)
  }
  await inWorld(
    script,
    async ({ ask, session, messages }) => {
      const { promise: allHere, resolve } = Promise.withResolvers<void>()
      let here = 0
      defineTool("meet", async () => {
        if (++here === 10) resolve()
        await allHere
        return "met"
      })
      await assert.rejects(ask("go", { rules, maxCost }), { name: "Session.CostLimit" })
      const { usage } = await Session.get(session.id)
      assert.ok(usage.cost > maxCost && usage.cost <= maxCost + 10, `$${usage.cost}`)
      assert.deepEqual([asked.get("k"), asked.get("l")], [undefined, undefined])
      const outputs = resultsOf(await messages()).map(({ output }) => String(output))
      assert.equal(outputs.length, 12)
      for (const output of outputs) assert.match(output, /--max-cost is \$1\.5/)
    },
    { config },
  )
})

test("the cost of a nested task counts for a parallel task", async () => {
  const asked: string[] = []
  const count = (task: string) => asked.filter((one) => one === task).length
  const script = ({ messages }: Request): Reply => {
    const task = messages[0]?.text ?? ""
    asked.push(task)
    if (task === "go") return calls(["outer", "other"].map((name) => call("subtask", { task: name }, free)))
    if (task === "outer") return call("subtask", { task: "inner" }, free)
    if (task === "inner") return call("hold", {}, dollar)
    return count("other") === 1 ? call("meet", {}, free) : call("ls", {}, dollar)
  }
  await inWorld(
    script,
    async ({ ask, events }) => {
      const { promise: held, resolve } = Promise.withResolvers<void>()
      // The request before this call has been paid for. The call runs until the parallel task was stopped or has gone on.
      defineTool("hold", async () => {
        resolve()
        await until(() => count("other") > 2 || events.some(({ type }) => type === "session.error"))
        return "held"
      })
      defineTool("meet", async () => {
        await held
        return "met"
      })
      await assert.rejects(ask("go", { rules, maxCost }), { name: "Session.CostLimit" })
      assert.equal(count("other"), 2)
      assert.equal(count("inner"), 1)
    },
    { config },
  )
})
