// createAgent() as an embedding program uses it: a process of its own that imports `dist`.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, tinyServer } from "./ability/mcp/servers.ts"
import { run } from "./fixture/child.ts"
import { vitamin } from "./fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "./fixture/fake-llm.ts"
import { noServers } from "./fixture/no-servers.ts"
import { type Tmp, tmpdir } from "./fixture/tmpdir.ts"

const library = JSON.stringify(new URL("../dist/index.js", import.meta.url).href)

/** Runs `code` with an `agent` for the folder, and gives what it printed, line by line. */
async function withAgent(tmp: Tmp, llm: FakeLlm, code: string): Promise<string[]> {
  tmp.write(
    "program.mjs",
    `import { createAgent, Message, Session } from ${library}
     const agent = await createAgent({ directory: process.cwd(), asks: "once" })
     ${code}
     await agent.stop()`,
  )
  await using child = run(process.execPath, ["program.mjs"], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
  })
  assert.equal(await child.exit, 0, child.errors())
  return child.lines
}

test("Agent.process() yields the events of its prompt and of the tasks that it delegates", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("subtask", { task: "count" }), text("Three."), text("It is three.")])
  const lines = await withAgent(
    tmp,
    llm,
    `const types = [], sessions = new Set()
     for await (const { type, payload } of agent.process({ text: "How many?" })) {
       types.push(type)
       if (payload.sessionId) sessions.add(payload.sessionId)
       if (type === "message.delta") process.stdout.write(payload.text)
     }
     console.log("")
     console.log(sessions.size, types.includes("message.created"), types.at(-1))`,
  )
  assert.deepEqual(lines, ["Three.It is three.", "2 true session.idle"])
})

test("Agent.process().answer() gives the final message, in a session that may go on", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One."), text("Two."), text("Three.")])
  const lines = await withAgent(
    tmp,
    llm,
    `const first = await agent.process({ text: "1" }).answer()
     const second = await agent.process({ text: "2", sessionId: first.sessionId }).answer()
     console.log(Message.textOf(first), Message.textOf(second), first.sessionId === second.sessionId)
     const once = agent.process({ text: "3" })
     await Promise.allSettled([once.answer(), once.answer().catch(({ name }) => console.log(name))])`,
  )
  assert.deepEqual(lines, ["One. Two. true", "Agent.AlreadySent"])
  assert.match(llm.requests[1]!.raw, /One\./)
})

test("Agent.process() throws what ended the prompt, after the events that came before it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  const lines = await withAgent(
    tmp,
    llm,
    `let count = 0
     try {
       for await (const _ of agent.process({ text: "x", agent: "nobody" })) count++
     } catch (error) {
       console.log(error.name)
     }`,
  )
  assert.deepEqual(lines, ["Agent.NotFound"])
})

test("leaving the loop over Agent.process() aborts the prompt", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "sleep 60; touch late" }), text("Done.")])
  const lines = await withAgent(
    tmp,
    llm,
    `let sessionId
     for await (const { type, payload } of agent.process({ text: "wait" }))
       if (type === "tool.started") { sessionId = payload.sessionId; break }
     const { bootstrap } = await import(${library})
     await bootstrap(process.cwd(), async () => console.log((await Session.get(sessionId)).status))`,
  )
  assert.deepEqual(lines, ["interrupted"])
  assert.equal(existsSync(join(tmp.path, "late")), false)
})

test("an Agent that was started says what it can do, and has the tools of its MCP servers", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools: [{ name: "add" }] }) }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  assert.equal((await vitamin(tmp, ["mcp", "test", "tiny"])).code, 0)
  await using llm = await fakeLlm([])
  const lines = await withAgent(
    tmp,
    llm,
    `try { agent.mcp } catch (error) { console.log(error.name) }
     await Promise.all([agent.start(), agent.start()])
     console.log(agent.capabilities().some(({ id, role }) => id === "build" && role === "executor"))
     const { tools } = await agent.mcp.discoverRelevant("add", { limit: 5 })
     console.log(tools.some(({ tool }) => tool.name.includes("add")))`,
  )
  assert.deepEqual(lines, ["Agent.NotStarted", "true", "true"])
})

test("Agent.stop() leaves the prompts of another agent of the folder running", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "sleep 2" }), text("Two."), text("One.")])
  const lines = await withAgent(
    tmp,
    llm,
    `const events = agent.process({ text: "wait" })[Symbol.asyncIterator]()
     while ((await events.next()).value.type !== "tool.started");
     const other = await createAgent({ directory: process.cwd() })
     await other.start()
     console.log(Message.textOf(await other.process({ text: "quick" }).answer()))
     await other.stop()
     for (let next = await events.next(); !next.done; next = await events.next())
       if (next.value.type === "message.delta") console.log(next.value.payload.text)`,
  )
  assert.deepEqual(lines, ["Two.", "One."])
})

test("Agent.stop() interrupts the agent's own prompts, and the agent can be used again", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "sleep 60" }), text("Again.")])
  const lines = await withAgent(
    tmp,
    llm,
    `let stopped
     try {
       for await (const { type } of agent.process({ text: "wait" }))
         if (type === "tool.started") stopped = agent.stop()
     } catch (error) {
       console.log(error.name)
     }
     await stopped
     console.log(Message.textOf(await agent.process({ text: "again" }).answer()))`,
  )
  assert.deepEqual(lines, ["Session.Interrupted", "Again."])
})

test("Agent.stop() of an agent that was never used makes no instance", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  const code = `const unused = await createAgent({ directory: "/no/such/folder" })
    await unused.stop()
    console.log("stopped")`
  assert.deepEqual(await withAgent(tmp, llm, code), ["stopped"])
})

test("Agent.stop() disposes of the instance of later prompts if that of start() is gone", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Done.")])
  const lines = await withAgent(
    tmp,
    llm,
    `const { bootstrap, GlobalBus } = await import(${library})
     GlobalBus.subscribe(({ type }) => type === "instance.disposed" && console.log(type))
     await agent.start()
     await bootstrap(process.cwd(), async () => {})
     console.log(Message.textOf(await agent.process({ text: "go" }).answer()))`,
  )
  assert.deepEqual(lines, ["instance.disposed", "Done.", "instance.disposed"])
})

test("Agent.stop() does not wait for ever for a prompt that ignores its signal", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("late"), text("Again.")])
  const lines = await withAgent(
    tmp,
    llm,
    `const { GlobalBus, Tool, z } = await import(${library})
     GlobalBus.subscribe(({ type }) => type === "instance.disposed" && console.log(type))
     const checked = Promise.withResolvers()
     const never = () => { checked.resolve(); return new Promise(() => {}) }
     const parameters = z.object({}).refine(never)
     const execute = async () => "late"
     Tool.define("late", () => ({ description: "Late.", parameters, readOnly: true, permission: () => [], execute }))
     await agent.start()
     void agent.process({ text: "wait" }).answer()
     await checked.promise
     setTimeout(() => process.exit(1), 30_000).unref()
     await agent.stop()
     console.log(Message.textOf(await agent.process({ text: "again" }).answer()))`,
  )
  assert.deepEqual(lines, ["instance.disposed", "Again.", "instance.disposed"])
})

test("Agent.stop() leaves no instance behind that comes up after it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.ts", "await new Promise((done) => setTimeout(done, 1_500))\nexport default {}\n")
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  await using llm = await fakeLlm([])
  const lines = await withAgent(
    tmp,
    llm,
    `const { GlobalBus } = await import(${library})
     const disposed = new Promise((resolve) => GlobalBus.subscribe(({ type }) => type === "instance.disposed" && resolve(type)))
     agent.process({ text: "go" }).answer().catch(({ name }) => console.log(name))
     await agent.stop()
     console.log(await disposed)`,
  )
  assert.deepEqual(lines, ["Session.Interrupted", "instance.disposed"])
})
