// A person's consent through a client of `vitamin mcp serve` allows one call.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { overHttp } from "./harness.ts"

type Answer = { result: { resultType?: string; requestState?: string; isError?: boolean } }

const command = "echo run >> runs"

test("a consent allows one call, even if it is sent again or late", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("runs", "")
  await using served = await overHttp(tmp)
  const call = (more: object = {}) => callBash(served, more)
  const ask = async () => (await call()).result.requestState!
  const answered = (requestState: string, allow: boolean) => ({
    requestState,
    inputResponses: { consent: { action: "accept", content: { allow } } },
  })
  const runs = () => readFileSync(join(tmp.path, "runs"), "utf8").match(/run/g)?.length ?? 0

  const once = answered(await ask(), true)
  assert.equal((await call(once)).result.isError, undefined)
  assert.equal((await call(once)).result.resultType, "input_required", "it is asked for again")
  assert.equal(runs(), 1)

  const atOnce = answered(await ask(), true)
  const results = await Promise.all(Array.from({ length: 5 }, () => call(atOnce)))
  const asked = results.filter(({ result }) => result.resultType === "input_required")
  assert.deepEqual([asked.length, runs()], [4, 2])

  const rejected = await ask()
  assert.equal((await call(answered(rejected, false))).result.isError, true)
  assert.equal((await call(answered(rejected, true))).result.resultType, "input_required")
  assert.equal(runs(), 2)
})

async function callBash({ url, token }: { url: URL; token: string }, more: object): Promise<Answer> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  }
  const params = { name: "bash", arguments: { command }, _meta, ...more }
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "bash",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  })
  return (await response.json()) as Answer
}
