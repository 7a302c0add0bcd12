// Servers that clients bring with sessions: how long they live, whose they are, and what is said of them.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { getPrompt } from "#ability/mcp/get-prompt.ts"
import { addServers, bringServers, hiddenFrom, ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { until } from "../../fixture/until.ts"
import { running } from "../shell/running.ts"
import { brought, ended, pidOf, starts } from "./brought-servers.ts"
import { call, idsFor, inInstance, one, serverTools, unique, up } from "./brought-world.ts"
import { mcpJson, officialServer, tinyServer } from "./servers.ts"

test("bringServers() with nothing loads nothing where no session ever brought a server", async () => {
  await inInstance(async () => {
    await bringServers("a", [])
    assert.equal(await ifConfigured(), undefined)
    assert.equal(hiddenFrom(["a"]).size, 0)
  })
})

test("two sessions share one process, which ends when none of them brings the server any more", async () => {
  await inInstance(async ({ tmp }) => {
    const word = unique()
    const log = join(tmp.path, word)
    const server = brought("tiny", one("hello", log))
    await bringServers("a", [server])
    await bringServers("b", [server])
    await up("tiny")
    assert.equal(await call("tiny_hello"), "hello ran")
    const pid = pidOf(word)
    await bringServers("a", [])
    assert.equal(pidOf(word), pid, "the same process still runs")
    assert.deepEqual([await idsFor("a"), await idsFor("b")], [[], ["tiny"]])
    await bringServers("b", [])
    await ended(word)
    assert.deepEqual(serverTools(), [])
    assert.deepEqual(await Mcp.list(), [])
    assert.equal(starts(log), 1)
  })
})

test("what a session brings stands in the place of what it brought before; what stayed goes on", async () => {
  await inInstance(async ({ tmp }) => {
    const [stays, goes] = [unique(), unique()]
    const server = brought("stays", one("x", join(tmp.path, stays)))
    await bringServers("a", [server, brought("goes", one("x", join(tmp.path, goes)))])
    await up("stays", "goes")
    await bringServers("a", [server, brought("comes", one("x"))])
    await up("stays", "comes")
    await ended(goes)
    assert.deepEqual(serverTools(), ["comes_x", "stays_x"])
    assert.equal(starts(join(tmp.path, stays)), 1)
  })
})

test("a server is started anew only when the one before it under its name has ended", async () => {
  await inInstance(async () => {
    const word = unique()
    // It ends when it is made to, not when it is asked to.
    const stubborn = `process.on("SIGTERM",()=>{});setInterval(()=>{},1e3);"${word}"`
    await bringServers("a", [brought("tiny", { command: process.execPath, args: ["-e", stubborn] })])
    await until(() => running(word).length > 0, "it runs")
    await bringServers("a", [brought("tiny", one("x"))])
    await up("tiny")
    assert.deepEqual(running(word), [])
  })
})

test("servers that are still starting end with the session, and with the instance", async () => {
  const words = [unique(), unique()] as const
  const hangs = (word: string) => brought(word, tinyServer({ mode: "hang", file: undefined, word }))
  await inInstance(async ({ log }) => {
    await bringServers("a", [hangs(words[0])])
    await until(() => running(words[0]).length > 0, "it runs")
    await bringServers("a", [])
    await ended(words[0])
    assert.doesNotMatch(log(), /did not start/, "nobody is told of what was taken away")
    await bringServers("b", [hangs(words[1])])
    await until(() => running(words[1]).length > 0, "it runs")
  })
  await ended(words[1])
})

test("values are passed as they are: nothing in them is a variable", async () => {
  await inInstance(async ({ tmp }) => {
    const literal = ["$", "{HOME}"].join("")
    const file = join(tmp.path, literal)
    const env = { OF_CLIENT: `${literal}/x` }
    await bringServers("a", [
      brought("tiny", one("x", file)),
      brought("everything", { ...officialServer("everything"), env }),
    ])
    await up("tiny", "everything")
    assert.equal(starts(file), 1)
    assert.ok((await call("everything_get-env")).includes(JSON.stringify(env.OF_CLIENT)))
    const [{ error }] = (await bringAndList(brought("web", { type: "http", url: literal }))) as [Mcp.Status]
    assert.equal(error, "its url is not one of http or https")
  })
})

async function bringAndList(server: ReturnType<typeof brought>): Promise<Mcp.Status[]> {
  await bringServers("c", [server])
  return (await Mcp.list(["c"])).filter(({ id }) => id === server.id)
}

test("a secret in the settings is in no line of the log, no event and no status", async () => {
  await inInstance(async ({ events, log }) => {
    const secret = unique()
    const leaks = "console.error(process.env.API_TOKEN);process.exit(1)"
    const env = { API_TOKEN: secret }
    await bringServers("a", [
      brought("leaks", { command: process.execPath, args: ["-e", leaks], env }),
      brought("web", { type: "http", url: "http://127.0.0.1:1/", headers: { "X-Key": secret } }),
      brought("everything", { ...officialServer("everything"), env }),
    ])
    await up("everything")
    await until(() => /leaks did not start/.test(log()) && /web did not start/.test(log()), "both failed")
    assert.match(log(), /leaks did not start.*\[.*(API_TOKEN|X-Key)\]/)
    for (const text of [log(), JSON.stringify(events), JSON.stringify(await Mcp.list())])
      assert.ok(!text.includes(secret))
    assert.ok(events.some(({ type }) => type === "mcp.changed"))
  })
})

test("in a folder that nobody trusts brought servers run, and nothing else of it", async () => {
  await inInstance(async ({ tmp }) => {
    const log = join(tmp.path, unique())
    tmp.write(".mcp.json", mcpJson({ tiny: one("theirs", log), other: one("theirs", log) }))
    await bringServers("a", [brought("tiny", one("own"))])
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

test("a skill's server gives way to a brought one and comes back after it; one that cannot be used replaces none", async () => {
  await inInstance(async ({ tmp, log }) => {
    const skill = { id: "tiny", entry: one("skill"), source: "skill quiet", folder: tmp.path, isOwn: true }
    await addServers([skill])
    await up("tiny")
    await bringServers("a", [brought("tiny", one("brought"))])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_brought"])
    assert.deepEqual([...hiddenFrom(["b"])], ["tiny"])
    await bringServers("a", [])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_skill"])
    assert.deepEqual([...hiddenFrom(["b"])], [])
    tmp.write(".mcp.json", mcpJson({ tiny: one("configured") }))
    await Trust.grant(tmp.path)
    await bringServers("a", [brought("tiny", { type: "gopher", url: "http://127.0.0.1:1/" })])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_configured"])
    assert.match(log(), /tiny of ACP session\/new is not used: its transport "gopher" is not known/)
  }, true)
})

test("no number of servers in a project's files keeps out a brought one", async () => {
  await inInstance(async ({ tmp }) => {
    const many = Array.from({ length: 300 }, (_, i) => [`s${i}`, { command: "x" }])
    tmp.write(".mcp.json", mcpJson(Object.fromEntries(many)))
    await bringServers("a", [brought("tiny", one("x"))])
    await up("tiny")
    assert.deepEqual(serverTools(), ["tiny_x"])
  })
})

test("the list tells of a brought server with its source, and events when it comes and goes", async () => {
  await inInstance(async ({ events }) => {
    await bringServers("a", [brought("tiny", one("x"))])
    await up("tiny")
    const [{ source, transport, tools }] = (await Mcp.list()) as [Mcp.Status]
    assert.deepEqual([source, transport, tools], ["ACP session/new", "stdio", 1])
    await bringServers("a", [])
    const states = events.flatMap(({ type, payload }) =>
      type === "mcp.changed" ? [(payload as Mcp.Status).state] : [],
    )
    assert.deepEqual([states[0], states.at(-2), states.at(-1)], ["idle", "connected", "disconnected"])
    await bringServers("b", [brought("tiny", one("x"))])
    await until(() => serverTools().length === 1, "what it offers is known from before")
    assert.equal((await Mcp.list())[0]!.state, "idle")
  })
})

test("prompts of a brought server are there for its session only", async () => {
  await inInstance(async () => {
    await bringServers("a", [brought("everything", officialServer("everything"))])
    await up("everything")
    const wish = {
      server: "everything",
      name: "args-prompt",
      args: { city: "Oslo" },
      typed: "/everything:args-prompt",
    }
    const { messages } = await getPrompt({ ...wish, line: ["task", "a"] })
    assert.match(JSON.stringify(messages), /weather in Oslo/)
    await assert.rejects(getPrompt({ ...wish, line: ["b"] }), { name: "MCP.NotFound" })
    assert.deepEqual(await Mcp.usable(["b"]), [])
    assert.equal((await Mcp.usable(["a"]))[0]!.manifest()!.prompts.length > 0, true)
  })
})
