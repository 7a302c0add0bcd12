// `vitamin mcp serve` as a process on stdin and stdout: how it runs and exits.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { startVitamin, vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { eras, namesOf, overStdio, textOf } from "./harness.ts"

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
}

test("stdout carries only the protocol, and vitamin exits when stdin is closed", async () => {
  await using tmp = await tmpdir()
  await using child = startVitamin(tmp, ["mcp", "serve", "--log-level", "debug"])
  const say = (message: object) => child.process.stdin!.write(`${JSON.stringify(message)}\n`)
  say(initialize)
  await child.line(/"id":1/)
  say({ jsonrpc: "2.0", method: "notifications/initialized" })
  child.process.stdin!.write("this is no JSON\n")
  say({ jsonrpc: "2.0", id: 2, method: "tools/list" })
  await child.line(/"id":2/)
  child.process.stdin!.end()
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(
    child.lines.map((line) => JSON.parse(line).id),
    [1, 2],
  )
  assert.match(child.errors(), /DEBUG/)
})

test("an endless line is not buffered: vitamin warns and exits", async () => {
  await using tmp = await tmpdir()
  await using child = startVitamin(tmp, ["mcp", "serve"])
  const { stdin } = child.process
  stdin!.on("error", () => {})
  stdin!.write(`{"jsonrpc":"2.0","method":"${"x".repeat(30_000_000)}`)
  assert.equal(await child.exit, 0)
  assert.deepEqual(child.lines, [])
  assert.match(child.errors(), /warning: the MCP client sent an invalid message.*maximum size/)
})

test("a client that disconnects at once causes no error", async () => {
  await using tmp = await tmpdir()
  const { code, out, err } = await vitamin(tmp, ["mcp", "serve"])
  assert.deepEqual([code, out, err], [0, "", ""])
})

const endings: [
  name: string,
  end: (child: ReturnType<typeof startVitamin>) => unknown,
  code: number | string,
][] = [
  ["stdin is closed", ({ process }) => process.stdin!.end(), 0],
  ["SIGTERM arrives", ({ process }) => process.kill("SIGTERM"), 143],
  ["SIGINT arrives", ({ process }) => process.kill("SIGINT"), 130],
  ["stdout is closed", ({ process }) => process.stdout!.destroy(), 0],
]
for (const [name, end, code] of endings)
  test(`processes of running calls are killed when ${name}`, async () => {
    await using tmp = await tmpdir()
    const nap = uniqueNap()
    await using child = startVitamin(tmp, ["mcp", "serve", "--allow", "bash.execute:sleep *"])
    const say = (message: object) => child.process.stdin!.write(`${JSON.stringify(message)}\n`)
    say(initialize)
    await child.line(/"id":1/)
    const params = { name: "bash", arguments: { command: `sleep ${nap}` } }
    say({ jsonrpc: "2.0", id: 2, method: "tools/call", params })
    await until(() => running(nap).length, "the command runs")
    end(child)
    // A closed stdout is noticed with the next write.
    child.process.stdin!.on("error", () => {})
    if (!child.process.stdin!.writableEnded) say({ jsonrpc: "2.0", id: 3, method: "ping" })
    assert.equal(await child.exit, code, child.errors())
    assert.deepEqual(running(nap), [])
    const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
    const [{ id }] = JSON.parse(out)
    const shown = await vitamin(tmp, ["session", "show", id, "--format", "json"])
    assert.equal(JSON.parse(shown.out).messages.at(-1).data.status, "interrupted")
  })

test("vitamin exits although the client reads nothing", async () => {
  await using tmp = await tmpdir()
  tmp.write("large.txt", "words and words\n".repeat(2_000))
  await using child = startVitamin(tmp, ["mcp", "serve"])
  const say = (message: object) => child.process.stdin!.write(`${JSON.stringify(message)}\n`)
  say(initialize)
  await child.line(/"id":1/)
  child.process.stdout!.pause()
  const read = { name: "read", arguments: { path: "large.txt" } }
  for (let id = 2; id < 42; id++) say({ jsonrpc: "2.0", id, method: "tools/call", params: read })
  const calls = async () => JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  await until(async () => (await calls()).length === 1, "a call is made")
  child.process.kill("SIGTERM")
  const ended = new Promise((resolve) => child.process.once("exit", resolve))
  assert.equal(await ended, 143, child.errors())
  child.process.stdout!.destroy()
})

test("the session of the calls opens and takes a prompt after SIGKILL of the server", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Here.")])
  const served = await overStdio(tmp, { args: ["--allow", "bash.execute:sleep *"] })
  const call = served.client.callTool({ name: "bash", arguments: { command: "sleep 3" } })
  const over = assert.rejects(call)
  const sessions = async () => JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  await until(async () => (await sessions()).length === 1, "the call is kept")
  process.kill(served.pid, "SIGKILL")
  await over
  await served.client.close()
  const [{ id }] = await sessions()
  const { code, out, err } = await vitamin(tmp, ["run", "--session", id, "go on"], env(llm, "chat").variables)
  assert.deepEqual([code, out], [0, "Here."], err)
})

for (const era of eras)
  test(`a cancelled call is stopped, and other calls continue (${era})`, async () => {
    await using tmp = await tmpdir({ git: true })
    const nap = uniqueNap()
    await using served = await overStdio(tmp, { era, args: ["--allow", "bash.execute:sleep *"] })
    const over = new AbortController()
    const given = served.client.callTool(
      { name: "bash", arguments: { command: `sleep ${nap}` } },
      { signal: over.signal },
    )
    await until(() => running(nap).length, "the command runs")
    const read = { name: "read", arguments: { path: "README.md" } }
    assert.match(textOf(await served.client.callTool(read)), /fixture/)
    over.abort()
    await assert.rejects(given)
    await until(() => running(nap).length === 0, "the command is gone")
    const quick = { name: "bash", arguments: { command: "sleep 0" } }
    assert.equal((await served.client.callTool(quick)).isError, undefined)
  })

test("parallel calls get their own results, and writing calls run one by one", async () => {
  await using tmp = await tmpdir({ git: true })
  for (let i = 0; i < 40; i++) tmp.write(`in/${i}.txt`, `words ${i}\n`)
  tmp.write("count.sh", 'n=$(cat n 2>/dev/null || echo 0)\nsleep 0.01\necho $((n + 1)) > n\necho "run $1"\n')
  await using served = await overStdio(tmp, { args: ["--allow", "bash.execute:sh count.sh *"] })
  const { client } = served
  const reads = Array.from({ length: 40 }, (_, i) =>
    client.callTool({ name: "read", arguments: { path: `in/${i}.txt` } }),
  )
  const runs = Array.from({ length: 10 }, (_, i) =>
    client.callTool({ name: "bash", arguments: { command: `sh count.sh ${i}` } }),
  )
  for (const [i, result] of (await Promise.all(reads)).entries())
    assert.match(textOf(result), new RegExp(`words ${i}\\b`))
  for (const [i, result] of (await Promise.all(runs)).entries()) assert.equal(textOf(result), `run ${i}\n`)
  assert.match(textOf(await client.callTool({ name: "read", arguments: { path: "n" } })), /\b10\b/)
})

test("vitamin's own client uses the server, and a server that lists itself does not start itself again", async () => {
  await using tmp = await tmpdir()
  const nested = [new URL("../../../dist/vitamin.js", import.meta.url).pathname, "mcp", "serve", "--trust"]
  const server = { type: "stdio", command: process.execPath, args: nested }
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { self: server } }))
  const args = ["--trust", "--allow", "mcp.call:self/read"]
  await using served = await overStdio(tmp, { args })
  const names = await namesOf(served.client)
  assert.ok(names.includes("self_read"), names.join(" "))
  assert.ok(!names.includes("self_grep"), names.join(" "))
  tmp.write("a.txt", "far words\n")
  const result = await served.client.callTool({ name: "self_read", arguments: { path: "a.txt" } })
  assert.match(textOf(result), /far words/)
  const client = createMCPClient({
    server: {
      id: "vitamin",
      name: "vitamin",
      transport: "stdio",
      command: [process.execPath, ...nested],
      env: tmp.env,
      cwd: tmp.path,
    },
  })
  try {
    await client.connect()
    const own = await client.callTool("read", { path: "a.txt" })
    assert.match(JSON.stringify(own.content), /far words/)
  } finally {
    await client.close()
  }
})
