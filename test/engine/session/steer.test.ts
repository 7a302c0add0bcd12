// Prompts with `whenBusy: "steer"` join the running prompt between two of its requests.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, shapeOf, textOf, type World } from "./harness.ts"
import { needy, use } from "./needy.ts"

const steer = { whenBusy: "steer" } as const

/** A tool that runs until the test releases it. */
function slowTool() {
  const { promise, resolve } = Promise.withResolvers<string>()
  const tool = { isRunning: false, goOn: () => resolve("slow result") }
  defineTool("slow", () => {
    tool.isRunning = true
    return promise
  })
  return tool
}

const waiting = async ({ session }: World) => (await Session.prompts(session.id)).length

test("a steering prompt joins the running one after the results of its calls, and gets its answer", async () => {
  const script = [calls([call("slow"), call("ls")]), text("Both done.")]
  await inWorld(script, async (world) => {
    const { ask, llm, messages, tmp, events } = world
    tmp.write("notes.txt", "my notes")
    const tool = slowTool()
    const first = ask("one")
    await until(() => tool.isRunning)
    const joined = [ask("two", steer), ask("three @notes.txt", steer)]
    await until(async () => (await waiting(world)) === 2)
    tool.goOn()
    assert.deepEqual((await Promise.all([first, ...joined])).map(textOf), Array(3).fill("Both done."))
    assert.deepEqual(shapeOf(await messages()), [
      "user",
      "tool_request",
      "tool_result",
      "tool_result",
      "user",
      "user",
      "file_reference",
      "assistant",
    ])
    assert.equal(llm.requests.length, 2)
    assert.match(JSON.stringify(llm.requests[1]!.body), /slow result.*two.*three.*my notes/)
    assert.equal(await waiting(world), 0)
    assert.equal(events.filter(({ type }) => type === "session.idle").length, 1)
  })
})

test("a steering prompt that comes too late runs next, before waiting prompts", async () => {
  const script = [text("One.", { deltas: 4, delay: 100 }), text("Steered."), text("Queued.")]
  await inWorld(script, async ({ ask, llm, events }) => {
    const first = ask("one")
    await until(() => events.some(({ type }) => type === "message.delta"))
    const all = await Promise.all([first, ask("queued"), ask("steered", steer)])
    assert.deepEqual(all.map(textOf), ["One.", "Queued.", "Steered."])
    assert.deepEqual(
      llm.requests.map(({ messages }) => messages.at(-1)!.text),
      ["one", "steered", "queued"],
    )
  })
})

test("a steering prompt to an idle session runs like any other prompt", async () => {
  await inWorld([text("Hello.")], async ({ ask, session }) => {
    assert.equal(textOf(await ask("hi", steer)), "Hello.")
    assert.equal((await Session.get(session.id)).status, "idle")
  })
})

test("Session.abort() ends the prompts that have joined and those that wait", async () => {
  await inWorld([call("slow"), call("slow"), text("no")], async (world) => {
    const { ask, session } = world
    let runs = 0
    defineTool("slow", async (_, { signal }) => {
      if (++runs > 1) await new Promise((resolve) => signal.addEventListener("abort", resolve))
      else await until(async () => (await waiting(world)) === 1)
      return "done"
    })
    const all = [ask("one")]
    await until(() => runs === 1)
    all.push(ask("joins", steer))
    await until(() => runs === 2)
    all.push(ask("has not joined", steer))
    await until(async () => (await waiting(world)) === 1)
    Session.abort(session.id)
    for (const result of await Promise.allSettled(all))
      assert.equal(result.status === "rejected" && result.reason.name, "Session.Interrupted")
    assert.equal(await waiting(world), 0)
    assert.equal((await Session.get(session.id)).skipped, undefined)
  })
})

test("Session.abort() leaves no record of a prompt that was about to join, nor of those behind it", async () => {
  await inWorld([text("Zero."), call("slow"), text("no")], async (world) => {
    const { ask, session, events, tmp } = world
    tmp.write("inside.txt", "mine")
    const parts = ["/etc/hosts", "inside.txt"].map((path) => ({ type: "file_reference" as const, path }))
    await ask("zero", { parts: parts.slice(0, 1), asks: "deny" })
    const tool = slowTool()
    const all = [ask("one")]
    await until(() => tool.isRunning)
    all.push(ask("", { ...steer, parts: parts.slice(1), refresh: true }), ask("behind it", steer))
    await until(async () => (await waiting(world)) === 2)
    tool.goOn()
    // The first prompt reads a file that needs a permission, and nobody answers.
    await until(() => events.some(({ type }) => type === "permission.requested"))
    Session.abort(session.id)
    for (const result of await Promise.allSettled(all))
      assert.equal(result.status === "rejected" && result.reason.name, "Session.Interrupted")
    assert.equal(await waiting(world), 0)
    assert.equal((await Session.get(session.id)).skipped, undefined)
  })
})

test("a steering prompt with refresh shows the model what has changed in attached files", async () => {
  await inWorld([calls([call("slow")]), text("Done.")], async (world) => {
    const { ask, llm, tmp } = world
    tmp.write("notes.txt", "old words")
    const tool = slowTool()
    const first = ask("see @notes.txt")
    await until(() => tool.isRunning)
    tmp.write("notes.txt", "new words")
    const joined = ask("again", { ...steer, refresh: true })
    await until(async () => (await waiting(world)) === 1)
    tool.goOn()
    await Promise.all([first, joined])
    assert.match(llm.requests[0]!.raw, /old words/)
    assert.match(llm.requests[1]!.raw, /new words/)
    assert.doesNotMatch(llm.requests[1]!.raw, /old words/)
  })
})

test("a steering prompt with its own rules runs next with them, and those behind it keep their order", async () => {
  const script = [call("slow"), text("One."), use("a"), text("Two."), text("Three.")]
  await inWorld(script, async (world) => {
    const { ask, llm } = world
    const ran = needy()
    const tool = slowTool()
    const first = ask("one")
    await until(() => tool.isRunning)
    const rules = [Permission.parseRule("network.fetch:a")]
    const others = [ask("two", { ...steer, rules }), ask("three", { ...steer, maxCost: 1 })]
    await until(async () => (await waiting(world)) === 2)
    tool.goOn()
    assert.deepEqual((await Promise.all([first, ...others])).map(textOf), ["One.", "Two.", "Three."])
    assert.deepEqual(ran, ["a"])
    assert.doesNotMatch(JSON.stringify(llm.requests[1]!.body), /two/)
  })
})

test("a steering prompt that names the agent and the rules of the running one joins it", async () => {
  await inWorld([call("slow"), text("Both.")], async (world) => {
    const rules = [Permission.parseRule("network.fetch:a")]
    const tool = slowTool()
    const first = world.ask("one", { rules })
    await until(() => tool.isRunning)
    const second = world.ask("two", { ...steer, agent: "build", rules: [...rules] })
    await until(async () => (await waiting(world)) === 1)
    tool.goOn()
    assert.deepEqual((await Promise.all([first, second])).map(textOf), ["Both.", "Both."])
  })
})
