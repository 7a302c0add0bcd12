// Our client with our server, over HTTP in the newest revision: the server's permission request reaches the person at
// the client's terminal, and the answer is sent with the call.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { overHttp } from "./harness.ts"

test("a person allows one call of another vitamin over HTTP, and rejects the next", async () => {
  await using far = await tmpdir({ git: true })
  await using served = await overHttp(far)
  await using near = await tmpdir({ git: true })
  const headers = { Authorization: `Bearer ${served.token}` }
  near.write(".mcp.json", mcpJson({ far: { type: "http", url: served.url.href, headers } }))
  assert.equal((await vitamin(near, ["trust", "--yes"])).code, 0)
  const known = await vitamin(near, ["mcp", "test", "far"])
  assert.match(known.out, /2026-07-28/, known.err)
  await using llm = await fakeLlm([
    call("far_bash", { command: "touch one" }),
    call("far_bash", { command: "touch two" }),
    text("One of two."),
  ])
  await using terminal = openTerminal(near, ["run", "--allow", "mcp.call:far/*", "go"], {
    env: env(llm, "chat").variables,
  })
  for (const [number, answer] of [
    [1, "yes"],
    [2, "no"],
  ] as const) {
    await terminal.sees(/The MCP server far asks:\n {2}Allow bash: bash\.execute of "touch \w+"\?/, number)
    await terminal.sees(/\[c\]ancel: /, number)
    terminal.type("a\n")
    await terminal.sees(/ allow .*allow it this once: /, number)
    terminal.type(`${answer}\n`)
  }
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.deepEqual(
    ["one", "two"].map((name) => existsSync(join(far.path, name))),
    [true, false],
  )
  assert.match(JSON.stringify(llm.requests[2]!.body), /was not run: the person rejected it/)
})
