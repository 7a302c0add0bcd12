// `vitamin mcp serve` against malicious clients.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { overHttp } from "./harness.ts"

test("a consent is bound to the shown arguments, even for tools of other servers", async () => {
  await using tmp = await tmpdir({ git: true })
  const log = join(tmp.path, "calls")
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools: [{ name: "pay" }] }, log) }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test"])).code, 0)
  await using served = await overHttp(tmp)
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  }
  const pay = async (to: string, more: object = {}) => {
    const params = { name: "tiny_pay", arguments: { to }, _meta: meta, ...more }
    const response = await fetch(served.url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${served.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "tiny_pay",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    })
    return (await response.json()) as { result: { resultType?: string; requestState?: string } }
  }
  const { requestState } = (await pay("a friend")).result
  const consent = {
    requestState,
    inputResponses: { consent: { action: "accept", content: { allow: true } } },
  }
  assert.equal((await pay("a thief", consent)).result.resultType, "input_required")
  assert.doesNotMatch(readFileSync(log, "utf8"), /thief/)
  await pay("a friend", consent)
  assert.match(readFileSync(log, "utf8"), /a friend/)
})
