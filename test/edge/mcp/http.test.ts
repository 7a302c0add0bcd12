// `vitamin mcp serve --http`: access control, and both revisions of the protocol.
import assert from "node:assert/strict"
import { once } from "node:events"
import { existsSync, statSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { test } from "node:test"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { toolsNeeding } from "../../fixture/builtin-tools.ts"
import { vitamin } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { eras, namesOf, overHttp, textOf } from "./harness.ts"

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }

test("requests without the token, from another origin or with another Host are refused", async () => {
  await using tmp = await tmpdir()
  await using served = await overHttp(tmp)
  const { url, token } = served
  const good = { authorization: `Bearer ${token}` }
  const refused: [Record<string, string>, number][] = [
    [{}, 401],
    [{ authorization: "Bearer wrong" }, 401],
    [{ ...good, origin: "http://evil.example" }, 403],
    [{ ...good, "sec-fetch-site": "cross-site" }, 403],
    [{ ...good, host: "evil.example" }, 421],
    [{ ...good, host: `evil.example:${url.port}` }, 421],
  ]
  for (const [headers, status] of refused)
    for (const method of ["POST", "GET", "DELETE"])
      assert.equal((await send(url, { headers, method })).status, status, JSON.stringify(headers))
  const { status, body } = await send(url, { headers: good, method: "POST" })
  assert.equal(status, 400, "let in, but it must begin with initialize")
  assert.match(body, /Mcp-Session-Id/)
  assert.equal(
    (await send(url, { headers: { ...good, "mcp-session-id": "none" }, method: "POST" })).status,
    404,
  )
  const tokenFile = /token in (.+)\)$/.exec(await served.child.line(/listening/))![1]!
  assert.equal(statSync(tokenFile).mode & 0o777, 0o600)
})

for (const era of eras)
  test(`tools obey the rules, permissions are asked, and calls run in parallel (${era})`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using served = await overHttp(tmp)
    const alone = await served.client({ era })
    assert.equal(alone.getNegotiatedProtocolVersion(), era === "auto" ? "2026-07-28" : "2025-11-25")
    assert.deepEqual(await namesOf(alone), [...toolsNeeding("file.read", "todo"), "run"].sort())
    const refused = alone.callTool({ name: "bash", arguments: { command: "touch a" } })
    await assert.rejects(refused, /Tool "bash" is not offered/)
    const questions: string[] = []
    const answer = (question: string) => {
      questions.push(question)
      return { action: "accept" as const, content: { allow: true } }
    }
    const asking = await served.client({ era, answer })
    await asking.callTool({ name: "bash", arguments: { command: "touch b" } })
    assert.deepEqual(questions, ['Allow bash: bash.execute of "touch b"?'])
    assert.deepEqual([existsSync(join(tmp.path, "a")), existsSync(join(tmp.path, "b"))], [false, true])
    const clients = await Promise.all(Array.from({ length: 5 }, () => served.client({ era })))
    const read = { name: "read", arguments: { path: "README.md" } }
    const results = await Promise.all(
      clients.flatMap((client) => Array.from({ length: 10 }, () => client.callTool(read))),
    )
    assert.equal(results.filter((result) => /# fixture/.test(textOf(result))).length, 50)
    for (const client of [alone, asking, ...clients]) await client.close()
  })

test("a consent without a question, or for another call, allows nothing", async () => {
  await using tmp = await tmpdir({ git: true })
  await using served = await overHttp(tmp)
  const { url, token } = served
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  }
  const consent = { inputResponses: { consent: { action: "accept", content: { allow: true } } } }
  const call = async (command: string, more: object = {}) => {
    const params = { name: "bash", arguments: { command }, _meta: meta, ...more }
    const headers = {
      authorization: `Bearer ${token}`,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "bash",
    }
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params }
    return JSON.parse((await send(url, { headers, method: "POST", message })).body)
  }
  const unasked = await call("touch a", consent)
  assert.equal(unasked.result.resultType, "input_required")
  const { requestState } = unasked.result
  const other = await call("touch b", { ...consent, requestState })
  assert.equal(other.result.resultType, "input_required")
  const forged = await call("touch a", { ...consent, requestState: `${requestState}x` })
  assert.equal(forged.error.code, -32602)
  assert.deepEqual([existsSync(join(tmp.path, "a")), existsSync(join(tmp.path, "b"))], [false, false])
  const real = await call("touch a", { ...consent, requestState })
  assert.equal(real.result.isError, undefined, JSON.stringify(real))
  assert.equal(existsSync(join(tmp.path, "a")), true)
})

test("a stop signal interrupts running calls", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using served = await overHttp(tmp, { args: ["--allow", "bash.execute:sleep *"] })
  const clients = [await served.client({ era: "legacy" }), await served.client()]
  // The second call waits for the first.
  for (const client of clients)
    client.callTool({ name: "bash", arguments: { command: `sleep ${nap}` } }).catch(() => {})
  await until(() => running(nap).length, "the command runs")
  served.child.process.kill("SIGTERM")
  assert.equal(await served.child.exit, 143, served.child.errors())
  assert.deepEqual(running(nap), [])
  for (const client of clients) await client.close()
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  const shown = await vitamin(tmp, ["session", "show", JSON.parse(out)[0].id, "--format", "json"])
  assert.equal(JSON.parse(shown.out).messages.at(-1).data.status, "interrupted")
})

type Sent = { headers: Record<string, string>; method: string; message?: object }

/** Uses node:http, which can send any Host header. */
async function send(url: URL, { headers, method, message = list }: Sent) {
  const outgoing = request(url, {
    method,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  })
  outgoing.end(method === "POST" ? JSON.stringify(message) : undefined)
  const [answer] = await once(outgoing, "response")
  let body = ""
  for await (const part of answer) body += part
  return { status: answer.statusCode as number, body }
}
