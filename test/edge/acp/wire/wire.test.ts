// Invalid and oversized messages: each is answered with an error, and the process continues.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { startVitamin } from "../../../fixture/cli.ts"
import { fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { on, startAcp, withSession } from "../harness.ts"

const wrong: [name: string, line: string, id: unknown, code: number][] = [
  ["no JSON", "{oops", null, -32700],
  ["half of a character", '"\ud800', null, -32700],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}]', null, -32600],
  ["an empty batch", "[]", null, -32600],
  ["a text", '"hello"', null, -32600],
  ["a number", "7", null, -32600],
  ["null", "null", null, -32600],
  ["another version of JSON-RPC", '{"id":5,"method":"session/list"}', 5, -32600],
  ["a method that is no text", '{"jsonrpc":"2.0","id":6,"method":7}', 6, -32600],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"session/list"}', null, -32600],
  ["a method that does not exist", '{"jsonrpc":"2.0","id":"m","method":"session/dance"}', "m", -32601],
  ["a method of the other side", '{"jsonrpc":"2.0","id":"o","method":"fs/read_text_file"}', "o", -32601],
  [
    "parameters that are a list",
    '{"jsonrpc":"2.0","id":"l","method":"session/list","params":[1]}',
    "l",
    -32602,
  ],
  ["no parameters", '{"jsonrpc":"2.0","id":"n","method":"session/new"}', "n", -32602],
]
for (const [name, line, id, code] of wrong)
  test(`${name} is answered with ${code}`, async () => {
    await using tmp = await tmpdir()
    await using acp = startAcp(tmp)
    await acp.agent.request(on.initialize, { protocolVersion: 1 })
    acp.write(`${line}\n`)
    const { error } = JSON.parse(await acp.line(/"error"/))
    assert.equal(error.code, code)
    assert.equal(JSON.parse(await acp.line(/"error"/)).id, id)
    // The process continues.
    assert.deepEqual((await acp.agent.request(on.session.list, {})).sessions, [])
  })

test("unexpected responses, unknown notifications and empty lines are ignored", async () => {
  await using tmp = await tmpdir()
  await using acp = startAcp(tmp)
  await acp.agent.request(on.initialize, { protocolVersion: 1 })
  const lines = [
    '{"jsonrpc":"2.0","id":99,"result":{}}',
    '{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":99}',
    '{"jsonrpc":"2.0","method":"_editor/hello","params":{}}',
    "",
    "   ",
  ]
  for (const line of lines) acp.write(`${line}\r\n`)
  assert.deepEqual((await acp.agent.request(on.session.list, {})).sessions, [])
  assert.equal(acp.lines.length, 2)
})

test("a line of 500 MB is refused without buffering it, and the next line is answered", async () => {
  await using tmp = await tmpdir()
  await using acp = startAcp(tmp)
  await acp.agent.request(on.initialize, { protocolVersion: 1 })
  const piece = Buffer.alloc(1 << 20, "x")
  let most = 0
  acp.stdin.write('{"jsonrpc":"2.0","id":1,"method":"')
  for (let i = 0; i < 500; i++) {
    if (!acp.stdin.write(piece)) await new Promise((resolve) => acp.stdin.once("drain", resolve))
    most = Math.max(most, residentMegabytes(acp.pid))
  }
  acp.stdin.write("\n")
  const { error } = JSON.parse(await acp.line(/"error"/))
  assert.equal(error.code, -32600)
  assert.match(error.message, /larger than the limit/)
  assert.deepEqual((await acp.agent.request(on.session.list, {})).sessions, [])
  assert.ok(most < 400, `${most} MB`)
})

test("a large prompt may arrive in any number of chunks", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Long.")])
  await using acp = await withSession(tmp, { llm, env: { VITAMIN_CONFIG: wide() } })
  const words = "Grüße – 世界 ".repeat(20_000)
  const params = { sessionId: acp.sessionId, prompt: [{ type: "text", text: words }] }
  const bytes = Buffer.from(
    `${JSON.stringify({ jsonrpc: "2.0", id: "p", method: on.session.prompt, params })}\n`,
  )
  for (let i = 0; i < bytes.length; i += 4_097) acp.write(bytes.subarray(i, i + 4_097))
  await acp.line(/"stopReason":"end_turn"/)
  assert.ok(llm.requests[0]!.raw.includes(JSON.stringify(words.trim()).slice(1, -1)))
})

test("stdout carries only the protocol, even if a project's code writes to it", async () => {
  await using tmp = await tmpdir()
  const noise = 'console.log("noise of the project")\nprocess.stdout.write("more of it")\n'
  tmp.write(".vitamin/config.ts", `${noise}export default {}\n`)
  await using llm = await fakeLlm([text("Quiet.")])
  await using acp = await withSession(tmp, { llm, args: ["--trust", "--log-level", "debug"] })
  await acp.prompt("hello")
  assert.equal(acp.text(), "Quiet.")
  assert.match(acp.errors(), /noise of the project[\s\S]*more of it/)
  assert.match(acp.errors(), /DEBUG/)
})

test("piped requests are answered before the exit, even without a final newline", async () => {
  await using tmp = await tmpdir()
  await using child = startVitamin(tmp, ["acp"])
  child.process.stdin!.end('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}')
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(
    child.lines.map((line) => JSON.parse(line).result.protocolVersion),
    [1],
  )
  assert.equal(child.errors(), "")
})

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!
  return Number(kilobytes) / 1024
}

/** A model with a large enough context window. */
function wide(): string {
  return JSON.stringify({ provider: { openai: { models: { "fake-model": { context: 1_000_000 } } } } })
}
