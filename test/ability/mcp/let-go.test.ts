// A server is removed or replaced while its tools are being loaded.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setSessionServers } from "#ability/mcp/if-configured.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { holdImport } from "../../fixture/hold-import.ts"
import { until } from "../../fixture/until.ts"
import { tinyServer } from "./servers.ts"
import { sessionServer } from "./session-server.ts"
import { inInstance, one, serverTools, up } from "./session-world.ts"

/** The first thing that loading tools does. */
const firstImport = "/ability/tool/server-tools.ts"

test("a server that is removed while its tools are loaded leaves none of them", async () => {
  await inInstance(async () => {
    using held = holdImport(firstImport)
    await setSessionServers("a", [sessionServer("tiny", one("hello"))])
    await held.reached
    const gone = setSessionServers("a", [])
    await until(async () => (await Mcp.list()).length === 0, "the server is removed")
    held.release()
    await gone
    assert.deepEqual(serverTools(), [])
  })
})

test("a server that is replaced while its tools are loaded changes nothing for the new one", async () => {
  await inInstance(async () => {
    const refused = { name: "refused", inputSchema: { type: "object", $ref: "http://127.0.0.1/x" } }
    const old = sessionServer("tiny", tinyServer({ tools: [{ name: "old" }, refused] }))
    const next = sessionServer("tiny", one("next"))
    // Its tools are known from now on, and are offered before it runs.
    await setSessionServers("a", [next])
    await up("tiny")
    await setSessionServers("a", [])
    using held = holdImport(firstImport)
    await setSessionServers("a", [old])
    await held.reached
    await setSessionServers("a", [next])
    await Mcp.list()
    assert.deepEqual(serverTools(), ["tiny_next"])
    // The first event comes when the tools of the old one are loaded, and before the new one is up.
    const seen: string[][] = []
    Bus.subscribe(Mcp.Changed, ({ problems }) => void seen.push(serverTools(), problems))
    held.release()
    await up("tiny")
    assert.deepEqual(seen[0], ["tiny_next"])
    assert.doesNotMatch(seen[1]!.join("\n"), /"refused" is left out/)
  })
})
