// Sessions with MCP servers of their client: which session sees which tools, by the requests to the model.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setSessionServers } from "#ability/mcp/if-configured.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { everythingOverHttp, mcpJson, officialServer, tinyServer } from "../../ability/mcp/servers.ts"
import { ended, sessionServer } from "../../ability/mcp/session-server.ts"
import { running } from "../../ability/shell/running.ts"
import { call, type Request, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf, type World } from "./harness.ts"
import { namesOf } from "./many.ts"

const rules = ["mcp.call:*", "agent.delegate:*"].map((rule) => Permission.parseRule(rule))
const logOf = ({ tmp }: World) => {
  const file = join(tmp.path, "..", "log")
  return existsSync(file) ? readFileSync(file, "utf8") : ""
}
const lastResult = async (sessionId: string) => resultsOf(await Session.messages(sessionId)).at(-1)

/** Waits until the servers are known and connected. */
async function up(...ids: string[]): Promise<void> {
  for (const id of ids) assert.equal((await Mcp.connect(id)).state, "connected")
}

const transports = {
  stdio: async () => ({ server: officialServer("everything"), async [Symbol.asyncDispose]() {} }),
  http: everythingOverHttp,
}

for (const [name, start] of Object.entries(transports))
  test(`tools of a client's server over ${name} are available in its session, and in no other`, async () => {
    const sum = call("everything_get-sum", { a: 20, b: 22 })
    const script = [sum, text("42"), sum, call("everything_get-summ", {}), text("none"), text("no")]
    await inWorld(script, async (world) => {
      const { ask, session, llm, tmp } = world
      await using started = await start(tmp)
      await setSessionServers(session.id, [sessionServer("everything", started.server)])
      await up("everything")
      const words = "get the sum of two numbers, as @everything:demo://resource/dynamic/text/7 says"
      await ask(words, { rules })
      assert.ok(namesOf(llm.requests[0]!).includes("everything_get-sum"))
      assert.match(JSON.stringify(llm.requests[0]!.body), /Resource 7: This is a plaintext resource/)
      assert.match(String((await lastResult(session.id))?.output), /20 and 22 is 42/)

      const other = await Session.create()
      await ask(words, { sessionId: other.id, rules })
      for (const request of llm.requests.slice(2, 5)) {
        assert.doesNotMatch(namesOf(request).join(), /everything|tool_search/)
        assert.doesNotMatch(JSON.stringify(request.body), /plaintext resource/)
      }
      const [refused, unknown] = resultsOf(await Session.messages(other.id))
      assert.match(String(refused?.output), /"everything_get-sum" is not a tool of the agent "build"/)
      assert.match(String(unknown?.output), /does not exist\. Available: bash/)
      assert.doesNotMatch(String(unknown?.output), /everything_get-sum\b/)
      const part = {
        type: "mcp_resource" as const,
        serverName: "everything",
        resourceUri: "demo://resource/dynamic/text/7",
      }
      await ask("", { sessionId: other.id, parts: [part], rules })
      assert.match(
        JSON.stringify(llm.requests.at(-1)!.body),
        /MCP server .{1,6}everything.{1,6} does not exist\. Configured: none/,
      )
    })
  })

test("a task, and a task of a task, have the servers of their root session", async () => {
  const script = [
    call("subtask", { task: "outer" }),
    call("subtask", { task: "inner" }),
    call("tiny_whisper", {}),
    text("heard"),
    text("passed on"),
    text("done"),
    text("again"),
    text("not here"),
  ]
  await inWorld(script, async ({ ask, session, llm }) => {
    await setSessionServers(session.id, [sessionServer("tiny", tinyServer({ tools: [{ name: "whisper" }] }))])
    await up("tiny")
    await ask("go", { rules })
    for (const request of llm.requests) assert.ok(namesOf(request).includes("tiny_whisper"))
    const tasks = (await Session.list({ tasks: true })).filter(({ taskOf }) => taskOf)
    const inner = tasks.find(({ title }) => title === "inner")!
    assert.equal((await lastResult(inner.id))?.output, "whisper ran")
    await ask("once more", { sessionId: inner.id })
    assert.ok(namesOf(llm.requests[6]!).includes("tiny_whisper"), "also where a person talks to the task")
    const copy = await Session.fork(session.id)
    await ask("and here?", { sessionId: copy.id })
    assert.ok(!namesOf(llm.requests[7]!).includes("tiny_whisper"), "a fork brings nothing")
  })
})

test("a client's server replaces a configured one of the same name for all sessions, and that is logged once", async () => {
  const use = call("tiny_who", {})
  const script = [use, text("a"), use, text("b"), use, text("c")]
  const named = (name: string) => {
    const result = { content: [{ type: "text", text: `I am the ${name} one` }] }
    return tinyServer({ tools: [{ name: "who", result }] })
  }
  await inWorld(script, async (world) => {
    const { ask, session, tmp } = world
    tmp.write(".mcp.json", mcpJson({ tiny: named("configured") }))
    await Trust.grant(tmp.path)
    const other = await Session.create()
    await setSessionServers(session.id, [sessionServer("tiny", named("brought"))])
    await up("tiny")
    for (const sessionId of [session.id, other.id]) {
      await ask("who?", { sessionId, rules })
      assert.equal((await lastResult(sessionId))?.output, "I am the brought one")
    }
    const said = logOf(world).match(/tiny of \.mcp\.json is replaced by the one of ACP session\/new/g)
    assert.equal(said?.length, 1)
    await setSessionServers(session.id, [])
    await up("tiny")
    await ask("who?", { rules })
    assert.equal((await lastResult(session.id))?.output, "I am the configured one")
  })
})

test("servers that hang or crash do not block other servers or other sessions", async () => {
  await inWorld([text("b"), text("a")], async (world) => {
    const { ask, session, llm } = world
    await setSessionServers(session.id, [
      sessionServer("hangs", tinyServer({ mode: "hang" })),
      sessionServer("crashes", tinyServer({ mode: "crash" })),
      sessionServer("works", tinyServer({ tools: [{ name: "one" }] })),
    ])
    const { state, error } = (await Mcp.list()).find(({ id }) => id === "hangs")!
    assert.deepEqual(
      [["idle", "connecting"].includes(state), error],
      [true, undefined],
      "nobody waited for it",
    )
    await up("works")
    const other = await Session.create()
    await ask("b", { sessionId: other.id })
    assert.doesNotMatch(logOf(world), /hangs is not up yet/, "it was not waited for")
    await ask("a")
    assert.match(logOf(world), /hangs is not up yet/)
    await until(() => /crashes did not start.*no database/.test(logOf(world)), "it is said that one crashed")
    assert.deepEqual(
      llm.requests.map((request) => namesOf(request).filter((name) => name.includes("_one"))),
      [[], ["works_one"]],
    )
  })
})

test("a session with too many tools for a request finds only those of its own servers", async () => {
  const many = (word: string) =>
    Array.from({ length: 40 }, (_, i) => ({
      name: `${word}_${i}`,
      description: `Melts ${word} number ${i}. ${"It takes its time and needs a lot of heat. ".repeat(9)}`,
    }))
  const search = call("tool_search", { query: "melt gold number 7", limit: 10 })
  const script = [search, text("a"), search, text("b")]
  await inWorld(script, async ({ ask, session, llm }) => {
    const other = await Session.create()
    await setSessionServers(session.id, [sessionServer("gold", tinyServer({ tools: many("gold") }))])
    await setSessionServers(other.id, [sessionServer("iron", tinyServer({ tools: many("iron") }))])
    await up("gold", "iron")
    for (const [sessionId, own, foreign] of [
      [session.id, "gold", "iron"],
      [other.id, "iron", "gold"],
    ] as const) {
      await ask("melt some metal", { sessionId })
      const found = String((await lastResult(sessionId))?.output)
      assert.match(found, new RegExp(`${own}_${own}_\\d`))
      assert.doesNotMatch(found, new RegExp(`${foreign}_`))
      const { body } = llm.requests.at(-1)!
      assert.match(JSON.stringify(body.tools), new RegExp(`There are tools of: ${own}\\.`))
      assert.doesNotMatch(JSON.stringify(body.tools), new RegExp(`${foreign}_`))
    }
  })
})

test("two servers with tools of the same name are both called, each by its own session", async () => {
  const server = (name: string, word: string) =>
    tinyServer({ tools: [{ name, result: { content: [{ type: "text", text: word }] } }] })
  await inWorld(
    ({ messages, tools }) => {
      if (messages.at(-1)!.results.length) return text("done")
      return call(tools.find(({ name }) => name.startsWith("a_b_c"))!.name, {})
    },
    async ({ ask, session }) => {
      const other = await Session.create()
      await setSessionServers(session.id, [sessionServer("a", server("b_c", "first"))])
      await setSessionServers(other.id, [sessionServer("a_b", server("c", "second"))])
      await up("a", "a_b")
      await ask("go", { rules })
      await ask("go", { sessionId: other.id, rules })
      assert.equal((await lastResult(session.id))?.output, "first")
      assert.equal((await lastResult(other.id))?.output, "second")
    },
  )
})

test("removing a session stops its servers", async () => {
  await inWorld([], async ({ session, tmp }) => {
    const word = `removed-${process.pid}`
    await setSessionServers(session.id, [
      sessionServer("tiny", tinyServer({ tools: [] }, join(tmp.path, word))),
    ])
    await up("tiny")
    assert.ok(running(word).length > 0)
    await Session.remove(session.id)
    await ended(word)
    assert.deepEqual(await Mcp.list(), [])
  })
})

test("a session does not call a server that was removed from it during a turn, even if another session has it", async () => {
  const tiny = () => sessionServer("tiny", tinyServer({ tools: [{ name: "whisper" }] }))
  const hear = call("tiny_whisper", {})
  await inWorld([hear, call("leave", {}), hear, text("gone")], async ({ ask, session }) => {
    const other = await Session.create()
    defineTool("leave", async () => {
      await setSessionServers(other.id, [tiny()])
      await setSessionServers(session.id, [])
      return "left"
    })
    await setSessionServers(session.id, [tiny()])
    await up("tiny")
    await ask("go", { rules })
    const results = resultsOf(await Session.messages(session.id))
    assert.deepEqual(
      results.map(({ status }) => status),
      ["success", "success", "error"],
    )
    assert.match(String(results.at(-1)?.output), /is not a tool of the agent/)
  })
})

const db = (word: string, log: string) => {
  const result = { content: [{ type: "text", text: `${word} acted` }] }
  return sessionServer("db", tinyServer({ tools: [{ name: "act", description: "acts", result }] }, log))
}
const act = ({ messages, tools }: Request) => {
  const { name } = tools.find(({ name }) => /^db.*_act$/.test(name)) ?? assert.fail("it has no such tool")
  return messages.at(-1)!.results.length ? text("done") : call(name, {})
}

test("two sessions with servers of the same name and different settings each reach their own program", async () => {
  await inWorld(act, async ({ ask, session, tmp, llm }) => {
    const other = await Session.create()
    const [staging, production] = ["staging", "production"].map((word) => db(word, join(tmp.path, word)))
    await setSessionServers(session.id, [staging!])
    await setSessionServers(other.id, [production!])
    await up("db", "db-2")
    const both = async () => {
      for (const sessionId of [session.id, other.id]) await ask("go", { sessionId, rules })
      return [(await lastResult(session.id))?.output, (await lastResult(other.id))?.output]
    }
    assert.deepEqual(await both(), ["staging acted", "production acted"])
    await setSessionServers(session.id, [staging!])
    assert.deepEqual(await both(), ["staging acted", "production acted"])
    for (const request of llm.requests)
      assert.equal(namesOf(request).filter((name) => name.startsWith("db")).length, 1)
  })
})

test('"always" for one program is asked again for another program of the same name', async () => {
  await inWorld(act, async ({ ask, tmp }) => {
    const answers: Permission.Reply[] = ["always", "reject"]
    const use = async (word: string) => {
      const { id: sessionId } = await Session.create()
      await setSessionServers(sessionId, [db(word, join(tmp.path, word))])
      await up("db")
      let isOver = false
      const done = ask("go", { sessionId }).finally(() => {
        isOver = true
      })
      await until(() => isOver || Permission.pending().length > 0, "it is asked, or done")
      const [request] = Permission.pending()
      if (request) await Permission.reply(request.id, answers.shift()!)
      await done
      const asked = request !== undefined
      const { status } = (await lastResult(sessionId))!
      await setSessionServers(sessionId, [])
      return [asked, status]
    }
    assert.deepEqual(await use("good"), [true, "success"])
    assert.deepEqual(await use("good"), [false, "success"])
    assert.deepEqual(await use("evil"), [true, "error"])
    assert.doesNotMatch(readFileSync(join(tmp.path, "evil"), "utf8"), /act/)
    assert.deepEqual(await use("good"), [false, "success"], "what was allowed still holds")
  })
})
