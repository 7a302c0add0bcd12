// MCP servers run inside the sandbox with the agent, under its network rules, and nowhere else.
import assert from "node:assert/strict"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { resultsIn } from "./harness.ts"

/** A server over stdio whose tool says where it runs, which key it has, and what it can reach. */
const server = `
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
const reach = (url) => fetch(url).then(async (answer) => answer.status + " " + await answer.text(), (error) => String(error.cause ?? error))
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "probe", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "look", description: "Looks around.", inputSchema: { type: "object" } }] }),
  "tools/call": async () => {
    const said = [readFileSync("/proc/1/comm", "utf8").trim(), "key " + process.env.PROBE_API_KEY, "mode " + process.env.MODE]
    for (const url of process.argv.slice(2)) said.push(url + " " + await reach(url))
    return { content: [{ type: "text", text: said.join("\\n") }] }
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const result = await answers[method]?.(params)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }))
}
`

async function listen(): Promise<{ server: Server; url: string; count(): number }> {
  let count = 0
  const server = createServer((_, response) => {
    count++
    response.end("reached")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, count: () => count }
}

test("an MCP server runs inside, without keys, and reaches only allowed hosts", async () => {
  await using tmp = await tmpdir({ git: true })
  const [allowed, denied] = [await listen(), await listen()]
  const probe = {
    ...{ id: "probe", name: "probe", transport: "stdio" },
    command: ["node", "server.mjs", allowed.url, denied.url],
    env: { PROBE_API_KEY: "sk-probe-0123456789", MODE: "plain" },
  }
  tmp.write("server.mjs", server)
  tmp.write(
    "../config/vitamin/vitamin.jsonc",
    JSON.stringify({
      mcp: { servers: [probe] },
      adapters: { sandbox: { security: { allowWrite: ["."], allowedDomains: [new URL(allowed.url).host] } } },
    }),
  )
  await vitamin(tmp, ["trust", "--yes", "--file", "server.mjs"])
  await using llm = await fakeLlm([call("probe_look", {}), text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "look"], env(llm, "chat").variables)
  for (const one of [allowed, denied]) one.server.close()
  assert.equal(code, 0, err)
  const [said] = resultsIn(llm)
  assert.match(said!, /^bwrap\nkey undefined\nmode plain$/m, said)
  assert.ok(said!.includes(`${allowed.url} 200 reached`), said)
  assert.equal(denied.count(), 0, said)
})
