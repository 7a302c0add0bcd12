// The requests `initialize` and `authenticate`.
import assert from "node:assert/strict"
import { test } from "node:test"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { connected, on, startAcp } from "./harness.ts"
import { methodNames } from "./schema.ts"

for (const [asked, why] of [
  [1, "its own"],
  [2, "a later one"],
  [65_535, "one that nobody knows"],
  [0, "an earlier one"],
] as const)
  test(`initialize answers version 1 to a client with version ${asked} (${why})`, async () => {
    await using tmp = await tmpdir()
    await using acp = startAcp(tmp)
    const { protocolVersion } = await acp.agent.request(on.initialize, { protocolVersion: asked })
    assert.equal(protocolVersion, 1)
  })

test("initialize returns our name and capabilities", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp)
  const { agentInfo, agentCapabilities, authMethods } = acp.initialized
  assert.equal(agentInfo?.name, "vitamin")
  assert.match(agentInfo?.version ?? "", /^\d+\.\d+\.\d+/)
  assert.deepEqual(authMethods, [])
  assert.deepEqual(agentCapabilities, {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
  })
})

test("initialize offers the terminal login to a client with a terminal", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp, { capabilities: { auth: { terminal: true } } })
  const [method] = acp.initialized.authMethods ?? []
  assert.deepEqual(method && { ...method, name: "", description: "" }, {
    type: "terminal",
    id: "login",
    name: "",
    description: "",
    args: ["--login"],
  })
  assert.deepEqual(await acp.agent.request(on.authenticate, { methodId: "login" }), {})
  await assert.rejects(acp.agent.request(on.authenticate, { methodId: "other" }), {
    code: -32602,
    data: { name: "ACP.InvalidParams" },
  })
})

test("other requests are refused before initialize", async () => {
  await using tmp = await tmpdir()
  await using acp = startAcp(tmp)
  const tried: [string, object][] = [
    [on.session.new, { cwd: tmp.path, mcpServers: [] }],
    [on.session.list, {}],
    [on.session.prompt, { sessionId: "x", prompt: [] }],
  ]
  for (const [method, params] of tried)
    await assert.rejects(acp.agent.request(method, params), { code: -32600 }, method)
  await acp.agent.request(on.initialize, { protocolVersion: 1 })
  assert.deepEqual((await acp.agent.request(on.session.list, {})).sessions, [])
})

test("every method that the protocol has for agents is served, except logout, which is not offered", async () => {
  await using tmp = await tmpdir()
  await using acp = await connected(tmp)
  const isNotification = (method: string) => method === on.session.cancel
  const missing: string[] = []
  for (const [i, method] of methodNames("agent")
    .filter((name) => !isNotification(name))
    .entries()) {
    acp.write(`${JSON.stringify({ jsonrpc: "2.0", id: `m${i}-`, method, params: { sessionId: "none" } })}\n`)
    const { error } = JSON.parse(await acp.line(new RegExp(`"id":"m${i}-"`)))
    if (error?.code === -32601) missing.push(method)
  }
  assert.deepEqual(missing, ["logout"])
  assert.equal(acp.initialized.agentCapabilities?.auth?.logout, undefined)
})
