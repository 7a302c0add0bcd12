// The MCP servers of a project over HTTP.
import assert from "node:assert/strict"
import { test } from "node:test"
import { abilityRoutes } from "#edge/server/routes/ability-routes.ts"
import { mcpRoutes } from "#edge/server/routes/mcp-routes.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { mcpJson, tinyServer } from "../../../ability/mcp/servers.ts"
import { lockedServer } from "../../../fixture/mcp/locked-server.ts"
import { auth, base, errorOf } from "../app-harness.ts"
import { appWith } from "../app-with.ts"

type Status = { id: string; state: string; tools: number; error?: string }

test("GET /mcp lists servers, connect and disconnect start and stop them, and events report it", async () => {
  await using world = await appWith([...mcpRoutes(), ...abilityRoutes()])
  const { tmp, app } = world
  const tools = [{ name: "one" }, { name: "two" }]
  const ask = (path: string, method = "GET") => app.request(base + path, { method, headers: auth })
  const list = async () => (await (await ask("/mcp")).json()) as Status[]
  const toolIds = async () => ((await (await ask("/tool")).json()) as { id: string }[]).map(({ id }) => id)
  const states: unknown[] = []
  const unsubscribe = GlobalBus.subscribe(({ type, payload }) => {
    const { id, state } = payload as Status
    if (type === "mcp.changed") states.push([id, state])
  })
  try {
    assert.deepEqual(await list(), [])
    tmp.write(".mcp.json", mcpJson({ good: tinyServer({ tools }), bad: tinyServer({ mode: "crash" }) }))
    assert.deepEqual(
      (await list()).map(({ id, state }) => [id, state]),
      [
        ["bad", "unusable"],
        ["good", "unusable"],
      ],
    )
    const untrusted = await ask("/mcp/good/connect", "POST")
    assert.deepEqual([untrusted.status, (await errorOf(untrusted)).name], [403, "MCP.Untrusted"])
    await Trust.grant(tmp.path)
    assert.deepEqual(
      (await list()).map(({ state }) => state),
      ["idle", "idle"],
      "without a new start",
    )
    const good = (await (await ask("/mcp/good/connect", "POST")).json()) as Status
    assert.deepEqual([good.state, good.tools], ["connected", 2])
    assert.ok((await toolIds()).includes("good_two"))
    const bad = (await (await ask("/mcp/bad/connect", "POST")).json()) as Status
    assert.equal(bad.state, "failed")
    assert.match(bad.error!, /no database/)
    const ended = (await (await ask("/mcp/good/disconnect", "POST")).json()) as Status
    assert.equal(ended.state, "disconnected")
    assert.ok(!(await toolIds()).includes("good_two"))
    assert.deepEqual(states, [
      ["good", "connecting"],
      ["good", "connected"],
      ["bad", "connecting"],
      ["bad", "failed"],
      ["good", "disconnected"],
    ])
    const missing = await ask("/mcp/goood/connect", "POST")
    assert.deepEqual([missing.status, (await errorOf(missing)).name], [404, "MCP.NotFound"])
    assert.equal((await app.request(`${base}/mcp`)).status, 401)
  } finally {
    unsubscribe()
  }
})

test("a login to a server is begun, waited for and stopped over HTTP, and the server is connected then", async () => {
  await using world = await appWith(mcpRoutes())
  const { tmp, app } = world
  await using locked = await lockedServer()
  tmp.write(".mcp.json", mcpJson({ locked: { type: "http", url: locked.url } }))
  await Trust.grant(tmp.path)
  const ask = async (method: string, path = "/mcp/locked/login") =>
    app.request(base + path, { method, headers: auth })
  const json = async (method: string, path?: string) =>
    (await ask(method, path)).json() as Promise<Record<string, unknown>>
  assert.equal((await ask("GET")).status, 404)
  assert.equal((await ask("POST", "/mcp/nobody/login")).status, 404)
  assert.equal((await json("POST", "/mcp/locked/connect")).needsLogin, true)
  await json("POST")
  assert.deepEqual(await json("DELETE"), { cancelled: true })
  assert.deepEqual(await json("DELETE"), { cancelled: false })
  assert.deepEqual(await json("GET"), { state: "failed", error: "The login was stopped." })
  const { url } = await json("POST")
  const outcome = json("GET")
  await fetch(String(url))
  const { state, server } = (await outcome) as { state: string; server: Status & { needsLogin?: boolean } }
  assert.deepEqual(
    [state, server.state, server.tools, server.needsLogin],
    ["done", "connected", 1, undefined],
  )
  assert.deepEqual(await json("POST"), {})
  assert.equal((await json("GET")).state, "done")
})
