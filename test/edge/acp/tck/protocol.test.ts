// Requirements of the public compatibility kit of the protocol (acp-tck), version 1, by their ids: the handshake, JSON-RPC,
// the transport, extensions, the end. The harness checks every message of these tests against the schema (ACP-SCHEMA-001,
// ACP-SCHEMA-002, ACP-JSONRPC-002, ACP-ERROR-001).
import assert from "node:assert/strict"
import { test } from "node:test"
import { fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { on, startAcp, withSession } from "../harness.ts"

const future = { clientCapabilities: {}, info: { name: "future", version: "9" }, capabilities: {} }

test("ACP-INIT-001, ACP-INIT-002, ACP-INIT-004 initialize with version 1 returns 1 and names the agent", async () => {
  await using tmp = await tmpdir()
  await using acp = startAcp(tmp)
  const { protocolVersion, agentInfo } = await acp.agent.request(on.initialize, { protocolVersion: 1 })
  assert.equal(protocolVersion, 1)
  assert.ok(agentInfo?.name && agentInfo.version)
})

for (const args of [[], ["--protocol", "2"]])
  test(`ACP-INIT-003 an unsupported version is answered with the latest one that is supported ${args.join(" ")}`, async () => {
    await using tmp = await tmpdir()
    await using acp = startAcp(tmp, { args, version: args.length ? 2 : 1 })
    acp.write(line({ id: 1, method: "initialize", params: { protocolVersion: 65_535, ...future } }))
    const { result } = JSON.parse(await acp.line(/"id":1/))
    assert.equal(result.protocolVersion, args.length ? 2 : 1)
  })

test("ACP-SCHEMA-001, ACP-TRANSPORT-001, ACP-TRANSPORT-002, ACP-TRANSPORT-003 stdout has one valid message on each line, in UTF-8", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Grüße,\n世界 \u2028 👍")])
  await using acp = await withSession(tmp, { llm })
  const bytes: Buffer[] = []
  acp.stdout.on("data", (part: Buffer) => bytes.push(part))
  await acp.prompt("greet")
  const whole = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(bytes))
  for (const one of whole.split("\n").filter(Boolean)) assert.equal(JSON.parse(one).jsonrpc, "2.0")
  assert.equal(acp.text(), "Grüße,\n世界 \u2028 👍")
})

test("ACP-JSONRPC-001 a response has the id of its request, a number or a text", async () => {
  await using tmp = await tmpdir()
  await using acp = startAcp(tmp)
  acp.write(line({ id: 7, method: "initialize", params: { protocolVersion: 1 } }))
  await acp.line(/"id":7[,}]/)
  acp.write(line({ id: "seven", method: "session/list", params: {} }))
  await acp.line(/"id":"seven"/)
})

test("ACP-JSONRPC-003, ACP-CANCEL-205 a notification gets no response", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const before = acp.lines.filter((one) => one.includes('"id"')).length
  acp.write(line({ method: "session/cancel", params: { sessionId: acp.sessionId } }))
  acp.write(line({ method: "session/cancel", params: { sessionId: "unknown" } }))
  acp.write(line({ method: "_custom/hello", params: {} }))
  acp.write(line({ method: "session/cancel", params: 7 }))
  await acp.agent.request(on.session.list, {})
  assert.equal(acp.lines.filter((one) => one.includes('"id"')).length, before + 1)
})

test("ACP-JSONRPC-004, ACP-JSONRPC-005, ACP-EXT-001 unknown and custom methods get -32601, and the connection stays usable", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  for (const method of ["session/dance", "_vendor.example/ask"])
    await assert.rejects(acp.agent.request(method, {}), { code: -32601 })
  assert.equal((await acp.agent.request(on.session.list, {})).sessions.length, 1)
})

test("ACP-META-001 a prompt with _meta is answered normally", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  const { stopReason } = await acp.agent.request(on.session.prompt, {
    sessionId: acp.sessionId,
    prompt: [{ type: "text", text: "hello" }],
    _meta: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  })
  assert.equal(stopReason, "end_turn")
})

test("ACP-SHUTDOWN-001 the process exits by itself when stdin is closed", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  acp.stdin.end()
  assert.equal(await acp.exit, 0)
})

test("ACP-STDERR-001 a normal exchange writes nothing to stderr", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  await acp.prompt("hello")
  acp.stdin.end()
  await acp.exit
  assert.equal(acp.errors(), "")
})

test("ACP-INFO-PARSE-001, ACP-INFO-INVALIDREQ-001 invalid lines are answered with an error and id null, and the session goes on", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  acp.write("{ this is not JSON\n")
  assert.equal(JSON.parse(await acp.line(/-32700/)).id, null)
  acp.write('{"foo":"bar"}\n')
  assert.equal(JSON.parse(await acp.line(/-32600/)).id, null)
  assert.equal((await acp.agent.request(on.session.list, {})).sessions.length, 1)
})

test("ACP-INFO-UNKNOWNSESSION-001 a prompt for an unknown session gets the error of the protocol for missing resources", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  const unknown = { sessionId: "sess_unknown", prompt: [] }
  await assert.rejects(acp.agent.request(on.session.prompt, unknown), { code: -32002 })
})

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`
}
