// `vitamin mcp …`, `vitamin tool search`, and the lines of `vitamin doctor` about servers.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, officialServer, tinyServer } from "../../../ability/mcp/servers.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { lockedServer } from "../../../fixture/mcp/locked-server.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const tools = [{ name: "forecast", description: "Weather of the next days" }]

test("vitamin mcp add, test, list and remove a server of the project", async () => {
  await using tmp = await tmpdir()
  assert.match((await vitamin(tmp, ["mcp", "list"])).out, /No MCP server is configured here/)
  const { command, args } = tinyServer({ tools })
  const added = await vitamin(tmp, ["mcp", "add", "tiny", "--env", "A=b=c", "--", command, ...args, "--flag"])
  assert.equal(added.code, 0, added.err)
  assert.equal(
    added.out,
    '"tiny" is in .vitamin/mcp.json now.\nReview the file, so that the server may start: vitamin trust\nThen try it: vitamin mcp test tiny',
  )
  assert.match(
    (await vitamin(tmp, ["mcp", "list"])).out,
    /^tiny +unusable +\.vitamin\/mcp\.json\n +the folder is not trusted/,
  )
  const bare = await vitamin(tmp, ["mcp", "add", "bare"])
  const usage = "vitamin mcp add bare -- npx -y PACKAGE, or vitamin mcp add bare --url https://…"
  assert.deepEqual([bare.code, bare.err], [2, `vitamin: Name either a command or an address: ${usage}\n`])
  const file = () => JSON.parse(readFileSync(join(tmp.path, ".vitamin/mcp.json"), "utf8"))
  assert.deepEqual(file().servers, [
    { name: "tiny", command: [command, ...args, "--flag"], env: { A: "b=c" } },
  ])
  const again = await vitamin(tmp, ["mcp", "add", "tiny", "--url", "http://127.0.0.1:9/mcp"])
  assert.deepEqual([again.code, again.err.includes("already")], [2, true], again.err)
  await vitamin(tmp, ["trust", "--yes"])
  assert.match(
    (await vitamin(tmp, ["mcp", "list"])).out,
    /^tiny +idle .*not tried yet: vitamin mcp test tiny$/m,
  )
  const tested = await vitamin(tmp, ["mcp", "test"])
  assert.equal(tested.code, 0, tested.err)
  assert.match(tested.out, /^tiny +connected +\.vitamin\/mcp\.json +1 tool, 0 resources, 0 prompts/)
  assert.match((await vitamin(tmp, ["mcp", "list"])).out, /^tiny +idle/)
  assert.match((await vitamin(tmp, ["doctor"])).out, /MCP servers +tiny, 1 tool$/m)
  assert.match((await vitamin(tmp, ["tool", "search", "weather"])).out, /^tiny_forecast +tiny +Weather/)
  assert.match((await vitamin(tmp, ["tool", "search", "read a file"])).out, /^read +local/m)
  assert.match((await vitamin(tmp, ["tool", "list"])).out, /^tiny_forecast/m)
  assert.equal((await vitamin(tmp, ["mcp", "remove", "tiny"])).code, 0)
  assert.deepEqual(file(), { servers: [] })
  assert.equal((await vitamin(tmp, ["mcp", "remove", "tiny"])).code, 2)
})

test("vitamin mcp test says why a server does not start, and continues with the others", async () => {
  await using tmp = await tmpdir()
  const everything = officialServer("everything")
  tmp.write(
    ".mcp.json",
    mcpJson({ bad: tinyServer({ mode: "crash" }), everything, none: { command: "/no/such" } }),
  )
  await vitamin(tmp, ["trust", "--yes"])
  const { code, out } = await vitamin(tmp, ["mcp", "test"])
  assert.equal(code, 1)
  assert.match(out, /^bad +failed .*\n.*no database/m)
  assert.match(out, /^everything +connected .* \d\d tools, \d+ resources, \d prompts/m)
  assert.match(out, /^none +failed .*\n.*\/no\/such/m)
  const unknown = await vitamin(tmp, ["mcp", "test", "everythin"])
  assert.deepEqual([unknown.code, /Did you mean "everything"\?/.test(unknown.err)], [1, true], unknown.err)
})

test("vitamin mcp add and remove do not edit a file with comments", async () => {
  await using tmp = await tmpdir()
  const text = '{ // mine\n  "servers": [] }'
  tmp.write(".vitamin/mcp.json", text)
  const { code, err } = await vitamin(tmp, ["mcp", "add", "x", "some-command"])
  assert.deepEqual([code, /change it by hand/.test(err)], [2, true], err)
  assert.equal(readFileSync(join(tmp.path, ".vitamin/mcp.json"), "utf8"), text)
  const wrong = await vitamin(tmp, ["mcp", "add", "x"])
  assert.deepEqual([wrong.code, /a command or an address/.test(wrong.err)], [2, true], wrong.err)
})

test("vitamin mcp login shows the URL to sign in, and then lists the server's tools", async () => {
  await using tmp = await tmpdir()
  await using locked = await lockedServer()
  tmp.write(".mcp.json", mcpJson({ locked: { type: "http", url: locked.url } }))
  await vitamin(tmp, ["trust", "--yes"])
  const before = await vitamin(tmp, ["mcp", "test", "locked"])
  assert.deepEqual([before.code, /Run: vitamin mcp login locked/.test(before.out)], [1, true], before.out)
  await using login = startVitamin(tmp, ["mcp", "login", "locked"])
  await fetch(await login.line(/^http/))
  assert.equal(await login.exit, 0, login.errors())
  assert.deepEqual(login.lines.slice(-2), ["Signed in to locked.", "It offers 1 tool."])
  assert.match((await vitamin(tmp, ["mcp", "list"])).out, /^locked +idle .* 1 tool,/)
})

test("vitamin mcp serve in a terminal says that a client starts it", async () => {
  await using tmp = await tmpdir()
  await using terminal = openTerminal(tmp, ["mcp", "serve"])
  assert.equal(await terminal.exit, 2, terminal.shown())
  assert.match(
    terminal.shown().replace(/\s+/g, " "),
    /^vitamin: An MCP client starts this command and talks to it over stdin and stdout: see docs\/mcp\.md\. To serve over HTTP: vitamin mcp serve --http/,
  )
})
