// Signing in to an MCP server from the terminal, with a real authorization server on loopback.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { mcpJson } from "../../ability/mcp/servers.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type LockedServer, lockedServer } from "../../fixture/mcp/locked-server.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const enter = "\r"
const isReady = /^(ask · .*|> ?)$/m

async function lockedFolder(locked: LockedServer) {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ locked: { type: "http", url: locked.url } }))
  await vitamin(tmp, ["trust", "--yes"])
  return tmp
}

/** Waits until the terminal has shown so many addresses, each in one line, and opens the last one. */
async function opens(terminal: Xterm, count: number): Promise<void> {
  const addresses = () => terminal.bytes().match(/http:[^\s\u001b]+\/authorize[^\s\u001b]+/g) ?? []
  await until(() => addresses().length === count, `address ${count}`)
  await terminal.sees("Waiting until you have signed in to locked.")
  await fetch(addresses().at(-1)!)
}

test("/mcp shows that a server needs a login, and choosing it signs in; its tools are there at once", async () => {
  await using locked = await lockedServer()
  await using tmp = await lockedFolder(locked)
  await using llm = await fakeLlm([call("locked_ok", {}), text("Called.")])
  await using terminal = await openXterm(tmp, ["--allow", "mcp.call:locked/*"], {
    env: env(llm, "chat").variables,
    columns: 60,
  })
  await terminal.sees(isReady)
  terminal.type(`/mcp${enter}`)
  await terminal.sees(/› locked/)
  terminal.type(enter)
  await terminal.sees(/Waiting until you have signed in to locked\.\n\[s\]top/)
  // A key after this pause is an answer, not one that was meant for the list.
  await sleep(1_000)
  terminal.type("s")
  await terminal.sees(/The login was stopped\./)
  terminal.type("/mcp login")
  await terminal.sees(/^› login locked +sign in$/m)
  terminal.type("\t")
  await terminal.sees("> /mcp login locked")
  terminal.type("\u0015")
  terminal.type(`/mcp${enter}`)
  await terminal.sees(/› locked +needs a login/)
  terminal.type(enter)
  await opens(terminal, 2)
  await terminal.sees(/› locked +connected, 1 tool/)
  terminal.type("\u001b[27u")
  await terminal.misses(/› locked/)
  terminal.type(`go${enter}`)
  await terminal.sees("Called.")
  assert.match(JSON.stringify(llm.requests[1]!.body), /"xx"/)
})

for (const args of [["--plain"], []])
  test(`/mcp login NAME signs in ${args.join(" ")} on a server of vitamin; a refused login is reported`, async () => {
    await using locked = await lockedServer()
    await using tmp = await lockedFolder(locked)
    const { child, url } = await serving(tmp, [], { VITAMIN_MODEL: "local/rules" })
    await using _ = child
    await using terminal = await openXterm(tmp, ["attach", url, "--dir", tmp.path, ...args])
    await terminal.sees(isReady)
    terminal.type(`/mcp login nobody${enter}`)
    await terminal.sees(/MCP server "nobody" does not exist\. Configured: locked/)
    locked.wrongIssuer = "https://elsewhere.test"
    terminal.type(`/mcp login locked${enter}`)
    await opens(terminal, 1)
    await terminal.sees(/The login to MCP server "locked" failed/)
    delete locked.wrongIssuer
    terminal.type(`/mcp login locked${enter}`)
    await opens(terminal, 2)
    await terminal.sees("you are signed in; locked is connected, 1 tool")
    assert.match((await vitamin(tmp, ["mcp", "list"])).out, /^locked +idle .* 1 tool,/)
  })
