// Sessions of one folder whose clients add servers with the same name: which program each session reaches, and under
// which id.
import assert from "node:assert/strict"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { addServers, hiddenFrom, setSessionServers } from "#ability/mcp/if-configured.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { until } from "../../fixture/until.ts"
import { mcpJson, tinyServer } from "./servers.ts"
import { ended, pidOf, sessionServer, starts } from "./session-server.ts"
import { call, idsFor, inInstance, one, serverTools, unique, up } from "./session-world.ts"

test("a client that uses a name with other settings gets a separate server", async () => {
  await inInstance(async ({ tmp, log }) => {
    const [word, gone] = [unique(), unique()]
    const first = sessionServer("tiny", one("first", join(tmp.path, word)))
    const second = sessionServer("tiny", one("second", join(tmp.path, gone)))
    await setSessionServers("a", [first])
    await up("tiny")
    const pid = pidOf(word)
    await setSessionServers("b", [second])
    await setSessionServers("c", [sessionServer("tiny", one("third"))])
    await setSessionServers("d", [second])
    await up("tiny", "tiny-2", "tiny-3")
    assert.deepEqual(serverTools(), ["tiny-2_second", "tiny-3_third", "tiny_first"])
    const seen = () => Promise.all(["a", "b", "c", "d", "e"].map((sessionId) => idsFor(sessionId)))
    const all = [["tiny"], ["tiny-2"], ["tiny-3"], ["tiny-2"], []]
    assert.deepEqual(await seen(), all)
    assert.deepEqual([...hiddenFrom(["task", "b"])], ["tiny", "tiny-3"])
    await setSessionServers("a", [first])
    await setSessionServers("b", [second])
    assert.deepEqual(await seen(), all, "also when they are brought again")
    assert.equal(pidOf(word), pid)
    assert.equal(log().match(/tiny of ACP session\/new is named "tiny-2"/g)?.length, 1)
    await setSessionServers("a", [])
    assert.deepEqual(await seen(), [[], ...all.slice(1)], "nobody moves up")
    await setSessionServers("b", [])
    assert.equal(starts(join(tmp.path, gone)), 1)
    assert.equal(await call("tiny-2_second"), "second ran", "it is still there for the other session")
    await setSessionServers("d", [])
    await ended(gone)
    await setSessionServers("e", [sessionServer("tiny", one("fifth"))])
    assert.deepEqual(await idsFor("e"), ["tiny"])
  })
})

test("a running call is not affected by another server of the same name", async () => {
  await inInstance(async ({ tmp }) => {
    const [log, go] = [join(tmp.path, "calls"), join(tmp.path, "go")]
    const slow = tinyServer({ tools: [{ name: "slow" }], waitsFor: go }, log)
    await setSessionServers("a", [sessionServer("tiny", slow)])
    await up("tiny")
    const answer = call("tiny_slow")
    await until(() => readFileSync(log, "utf8").includes('"slow"'), "the call has come")
    await setSessionServers("b", [sessionServer("tiny", one("other"))])
    await up("tiny-2")
    writeFileSync(go, "")
    assert.equal(await answer, "slow ran")
  })
})

test("a session that changes the settings of a shared server leaves it to the other session", async () => {
  await inInstance(async ({ tmp }) => {
    const log = join(tmp.path, unique())
    const shared = sessionServer("tiny", one("shared", log))
    await setSessionServers("a", [shared])
    await setSessionServers("b", [shared])
    await up("tiny")
    await setSessionServers("a", [sessionServer("tiny", one("changed"))])
    await up("tiny", "tiny-2")
    assert.deepEqual([await idsFor("a"), await idsFor("b")], [["tiny-2"], ["tiny"]])
    assert.equal(starts(log), 1)
    await setSessionServers("a", [sessionServer("tiny", one("again"))])
    await up("tiny-2")
    assert.deepEqual(serverTools(), ["tiny-2_again", "tiny_shared"], "its id stays")
    await setSessionServers("a", [shared])
    assert.deepEqual(await idsFor("a"), ["tiny"])
  })
})

test("a session server keeps its numbered id, even if another session uses that id as a name", async () => {
  await inInstance(async () => {
    await setSessionServers("a", [sessionServer("tiny", one("first"))])
    await setSessionServers("b", [sessionServer("tiny", one("second"))])
    assert.deepEqual(await idsFor("b"), ["tiny-2"])
    await setSessionServers("c", [sessionServer("tiny-2", one("third"))])
    assert.deepEqual([await idsFor("b"), await idsFor("c")], [["tiny-2"], ["tiny-2-2"]])
    await setSessionServers("a", [])
    await setSessionServers("c", [])
    await setSessionServers("b", [sessionServer("tiny", one("changed"))])
    assert.deepEqual(await idsFor("b"), ["tiny-2"])
    await up("tiny-2")
    assert.deepEqual(serverTools(), ["tiny-2_changed"])
  })
})

test("a numbered id never equals another server's name, and only the first session server replaces a configured one", async () => {
  await inInstance(async ({ tmp }) => {
    tmp.write(".mcp.json", mcpJson({ tiny: one("configured"), "tiny-2": one("x") }))
    await Trust.grant(tmp.path)
    const skill = { id: "tiny-3", entry: one("x"), source: "skill quiet", folder: tmp.path, isOwn: true }
    await addServers([skill])
    await setSessionServers("a", [sessionServer("tiny", one("first"))])
    await setSessionServers("b", [sessionServer("tiny", one("second")), sessionServer("tiny-4", one("x"))])
    const others = ["tiny-2", "tiny-3"]
    assert.deepEqual(await idsFor("a"), ["tiny", ...others])
    assert.deepEqual(await idsFor("b"), [...others, "tiny-4", "tiny-5"], "its own, not the first one's")
    assert.deepEqual(await idsFor("c"), ["tiny", ...others])
    await up("tiny", "tiny-5")
    assert.deepEqual([await call("tiny_first"), await call("tiny-5_second")], ["first ran", "second ran"])
    tmp.write(".mcp.json", mcpJson({ tiny: one("configured"), "tiny-5": one("theirs") }))
    await Trust.grant(tmp.path)
    await up("tiny-5")
    assert.ok((await idsFor("c")).includes("tiny-5"))
    assert.ok(serverTools().includes("tiny-5_theirs"), "one that is configured later has its id")
    assert.ok((await idsFor("b")).includes("tiny-2"))
  }, true)
})

test("an unusable session server replaces none and reveals no server of another session", async () => {
  await inInstance(async ({ log }) => {
    const broken = sessionServer("tiny", { type: "http", url: "nowhere" })
    await setSessionServers("a", [broken])
    assert.deepEqual(await idsFor("a"), ["tiny"])
    await setSessionServers("b", [sessionServer("tiny", one("works"))])
    await up("tiny")
    assert.deepEqual([await idsFor("a"), await idsFor("b")], [[], ["tiny"]])
    assert.match(log(), /tiny of ACP session\/new is not used: its url/)
  })
})

test("the fingerprint of a session server's tool depends on its program, not on its keys", async () => {
  await inInstance(async ({ tmp }) => {
    const program = (word: string) => one("act", join(tmp.path, word))
    const fingerprints = async (server: Parameters<typeof sessionServer>[1]) => {
      await setSessionServers("a", [sessionServer("tiny", server)])
      await up("tiny")
      return ToolRegistry.get("tiny_act").permission!({})[0]!.fingerprint
    }
    const good = await fingerprints(program("good"))
    assert.equal(await fingerprints({ ...program("good"), env: { KEY: "another" } }), good)
    assert.notEqual(await fingerprints(program("evil")), good)
    await setSessionServers("a", [])
    tmp.write(".mcp.json", mcpJson({ tiny: program("good") }))
    await Trust.grant(tmp.path)
    await up("tiny")
    const configured = ToolRegistry.get("tiny_act").permission!({})[0]!.fingerprint
    assert.notEqual(configured, good)
    tmp.write(".mcp.json", mcpJson({ tiny: program("changed") }))
    await Trust.grant(tmp.path)
    await up("tiny")
    assert.ok(existsSync(join(tmp.path, "changed")))
    assert.equal(ToolRegistry.get("tiny_act").permission!({})[0]!.fingerprint, configured)
  }, true)
})

test("a server that is configured and added with the same settings has the fingerprint of a session server", async () => {
  await inInstance(async ({ tmp }) => {
    const fingerprint = () => ToolRegistry.get("tiny_act").permission!({})[0]!.fingerprint
    const server = sessionServer("tiny", one("act"), { folder: tmp.path })
    await setSessionServers("a", [server])
    await up("tiny")
    const alone = fingerprint()
    await setSessionServers("a", [])
    tmp.write(".mcp.json", mcpJson({ tiny: one("act") }))
    await Trust.grant(tmp.path)
    await up("tiny")
    assert.notEqual(fingerprint(), alone)
    await setSessionServers("a", [server])
    await up("tiny")
    assert.equal(fingerprint(), alone)
    assert.equal((await Mcp.list()).length, 1)
  }, true)
})
