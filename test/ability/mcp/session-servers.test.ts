// Servers that clients add to sessions: when they end, which sessions see them, and what is reported about them.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { getPrompt } from "#ability/mcp/get-prompt.ts"
import { addServers, hiddenFrom, ifConfigured, setSessionServers } from "#ability/mcp/if-configured.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { until } from "../../fixture/until.ts"
import { running } from "../shell/running.ts"
import { mcpJson, officialServer, tinyServer } from "./servers.ts"
import { ended, pidOf, sessionServer, starts } from "./session-server.ts"
import { call, idsFor, inInstance, one, serverTools, unique, up } from "./session-world.ts"

test("setSessionServers([]) loads nothing if no session ever had a server", async () => {
  await inInstance(async () => {
    await setSessionServers("a", [])
    assert.equal(await ifConfigured(), undefined)
    assert.equal(hiddenFrom(["a"]).size, 0)
  })
})

test("two sessions share one process, which ends when neither has the server any more", async () => {
  await inInstance(async ({ tmp }) => {
    const word = unique()
    const log = join(tmp.path, word)
    const server = sessionServer("tiny", one("hello", log))
    await setSessionServers("a", [server])
    await setSessionServers("b", [server])
    await up("tiny")
    assert.equal(await call("tiny_hello"), "hello ran")
    const pid = pidOf(word)
    await setSessionServers("a", [])
    assert.equal(pidOf(word), pid, "the same process still runs")
    assert.deepEqual([await idsFor("a"), await idsFor("b")], [[], ["tiny"]])
    await setSessionServers("b", [])
    await ended(word)
    assert.deepEqual(serverTools(), [])
    assert.deepEqual(await Mcp.list(), [])
    assert.equal(starts(log), 1)
  })
})

test("a new list replaces the servers of a session; unchanged servers keep running", async () => {
  await inInstance(async ({ tmp }) => {
    const [stays, goes] = [unique(), unique()]
    const server = sessionServer("stays", one("x", join(tmp.path, stays)))
    await setSessionServers("a", [server, sessionServer("goes", one("x", join(tmp.path, goes)))])
    await up("stays", "goes")
    await setSessionServers("a", [server, sessionServer("comes", one("x"))])
    await up("stays", "comes")
    await ended(goes)
    assert.deepEqual(serverTools(), ["comes_x", "stays_x"])
    assert.equal(starts(join(tmp.path, stays)), 1)
  })
})

test("a server starts only after the earlier one of its name has ended", async () => {
  await inInstance(async () => {
    const word = unique()
    // It ends when it is made to, not when it is asked to.
    const stubborn = `process.on("SIGTERM",()=>{});setInterval(()=>{},1e3);"${word}"`
    await setSessionServers("a", [
      sessionServer("tiny", { command: process.execPath, args: ["-e", stubborn] }),
    ])
    await until(() => running(word).length > 0, "it runs")
    await setSessionServers("a", [sessionServer("tiny", one("x"))])
    await up("tiny")
    assert.deepEqual(running(word), [])
  })
})

test("servers that are still starting end with the session, and with the instance", async () => {
  const words = [unique(), unique()] as const
  const hangs = (word: string) => sessionServer(word, tinyServer({ mode: "hang", file: undefined, word }))
  await inInstance(async ({ log }) => {
    await setSessionServers("a", [hangs(words[0])])
    await until(() => running(words[0]).length > 0, "it runs")
    await setSessionServers("a", [])
    await ended(words[0])
    assert.doesNotMatch(log(), /did not start/, "nobody is told of what was taken away")
    await setSessionServers("b", [hangs(words[1])])
    await until(() => running(words[1]).length > 0, "it runs")
  })
  await ended(words[1])
})

test("variables in values of session servers are not expanded", async () => {
  await inInstance(async ({ tmp }) => {
    const literal = ["$", "{HOME}"].join("")
    const file = join(tmp.path, literal)
    const env = { OF_CLIENT: `${literal}/x` }
    await setSessionServers("a", [
      sessionServer("tiny", one("x", file)),
      sessionServer("everything", { ...officialServer("everything"), env }),
    ])
    await up("tiny", "everything")
    assert.equal(starts(file), 1)
    assert.ok((await call("everything_get-env")).includes(JSON.stringify(env.OF_CLIENT)))
    const [{ error }] = (await addAndList(sessionServer("web", { type: "http", url: literal }))) as [
      Mcp.Status,
    ]
    assert.equal(error, "its url is not one of http or https")
  })
})

async function addAndList(server: ReturnType<typeof sessionServer>): Promise<Mcp.Status[]> {
  await setSessionServers("c", [server])
  return (await Mcp.list(["c"])).filter(({ id }) => id === server.id)
}

test("a secret in the settings appears in no log line, event or status", async () => {
  await inInstance(async ({ events, log }) => {
    const secret = unique()
    const leaks = "console.error(process.env.API_TOKEN);process.exit(1)"
    const env = { API_TOKEN: secret }
    await setSessionServers("a", [
      sessionServer("leaks", { command: process.execPath, args: ["-e", leaks], env }),
      sessionServer("web", { type: "http", url: "http://127.0.0.1:1/", headers: { "X-Key": secret } }),
      sessionServer("everything", { ...officialServer("everything"), env }),
    ])
    await up("everything")
    await until(() => /leaks did not start/.test(log()) && /web did not start/.test(log()), "both failed")
    assert.match(log(), /leaks did not start.*\[.*(API_TOKEN|X-Key)\]/)
    for (const text of [log(), JSON.stringify(events), JSON.stringify(await Mcp.list())])
      assert.ok(!text.includes(secret))
    assert.ok(events.some(({ type }) => type === "mcp.changed"))
  })
})

test("session servers run in an untrusted folder, and nothing else does", async () => {
  await inInstance(async ({ tmp }) => {
    const log = join(tmp.path, unique())
    tmp.write(".mcp.json", mcpJson({ tiny: one("theirs", log), other: one("theirs", log) }))
    await setSessionServers("a", [sessionServer("tiny", one("own"))])
    await up("tiny")
    await Mcp.prepare(new AbortController().signal, ["a"])
    assert.deepEqual(serverTools(), ["tiny_own"])
    assert.equal(existsSync(log), false)
    const states = (await Mcp.list()).map(({ id, state, source }) => [id, state, source])
    assert.deepEqual(states, [
      ["other", "unusable", ".mcp.json"],
      ["tiny", "connected", "ACP session/new"],
    ])
    assert.deepEqual([...hiddenFrom(["b"])], ["tiny"], "it took the place of nothing that others had")
  })
})

test("a session server replaces a skill's server until it is removed; an unusable one does not", async () => {
  await inInstance(async ({ tmp, log }) => {
    const skill = { id: "tiny", entry: one("skill"), source: "skill quiet", folder: tmp.path, isOwn: true }
    await addServers([skill])
    await up("tiny")
    await setSessionServers("a", [sessionServer("tiny", one("brought"))])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_brought"])
    assert.deepEqual([...hiddenFrom(["b"])], ["tiny"])
    await setSessionServers("a", [])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_skill"])
    assert.deepEqual([...hiddenFrom(["b"])], [])
    tmp.write(".mcp.json", mcpJson({ tiny: one("configured") }))
    await Trust.grant(tmp.path)
    await setSessionServers("a", [sessionServer("tiny", { type: "gopher", url: "http://127.0.0.1:1/" })])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_configured"])
    assert.match(log(), /tiny of ACP session\/new is not used: its transport "gopher" is not known/)
  }, true)
})

test("session servers have their own limit beside those of project files", async () => {
  await inInstance(async ({ tmp }) => {
    const many = Array.from({ length: 300 }, (_, i) => [`s${i}`, { command: "x" }])
    tmp.write(".mcp.json", mcpJson(Object.fromEntries(many)))
    await setSessionServers("a", [sessionServer("tiny", one("x"))])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_x"])
  })
})

test("the list shows a session server with its source, and events report its start and end", async () => {
  await inInstance(async ({ events }) => {
    await setSessionServers("a", [sessionServer("tiny", one("x"))])
    await up("tiny")
    const [{ source, transport, tools }] = (await Mcp.list()) as [Mcp.Status]
    assert.deepEqual([source, transport, tools], ["ACP session/new", "stdio", 1])
    await setSessionServers("a", [])
    const states = events.flatMap(({ type, payload }) =>
      type === "mcp.changed" ? [(payload as Mcp.Status).state] : [],
    )
    assert.deepEqual([states[0], states.at(-2), states.at(-1)], ["idle", "connected", "disconnected"])
    await setSessionServers("b", [sessionServer("tiny", one("x"))])
    await until(() => serverTools().length === 1, "what it offers is known from before")
    assert.equal((await Mcp.list())[0]!.state, "idle")
  })
})

test("prompts of a session server are visible to its session only", async () => {
  await inInstance(async () => {
    await setSessionServers("a", [sessionServer("everything", officialServer("everything"))])
    await up("everything")
    const wish = {
      server: "everything",
      name: "args-prompt",
      args: { city: "Oslo" },
      typed: "/everything:args-prompt",
    }
    const { messages } = await getPrompt({ ...wish, ancestry: ["task", "a"] })
    assert.match(JSON.stringify(messages), /weather in Oslo/)
    await assert.rejects(getPrompt({ ...wish, ancestry: ["b"] }), { name: "MCP.NotFound" })
    assert.deepEqual(await Mcp.usable(["b"]), [])
    assert.equal((await Mcp.usable(["a"]))[0]!.manifest()!.prompts.length > 0, true)
  })
})
