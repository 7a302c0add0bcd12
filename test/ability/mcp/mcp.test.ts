// The servers of a running instance: lists that change, files that change, and servers that end.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import { runTool } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { mcpJson, tinyServer } from "./servers.ts"

async function inInstance(tmp: Tmp, fn: () => Promise<void>): Promise<void> {
  try {
    await Trust.grant(tmp.path)
    await Instance.provide({ directory: tmp.path, fn })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

function call(name: string) {
  const { signal } = new AbortController()
  return runTool({
    call: { id: "c1", name, arguments: {} },
    context: { sessionId: "s", messageId: "m", callId: "c1", signal },
    slots: { permit: () => undefined },
  })
}

/** Known and up, however slow this machine is. */
async function connect(...ids: string[]): Promise<void> {
  for (const id of ids) assert.equal((await Mcp.connect(id)).state, "connected")
}

const { signal } = new AbortController()
const serverTools = () => ToolRegistry.list().flatMap(({ id, server }) => (server ? [id] : []))

test("ifConfigured() returns undefined until a server is configured", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp, async () => {
    assert.equal(await ifConfigured(), undefined)
    tmp.write(".mcp.json", mcpJson({}))
    assert.deepEqual(await (await ifConfigured())!.list(), [])
  })
})

test("the tools of a server are read again after a change, and an event is published", async () => {
  await using tmp = await tmpdir()
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools: [{ name: "grow" }], grows: true }) }))
  await inInstance(tmp, async () => {
    const counts: number[] = []
    Bus.subscribe(Mcp.Changed, ({ state, tools }) => {
      if (state === "connected") counts.push(tools)
    })
    await connect("tiny")
    assert.deepEqual(serverTools(), ["tiny_grow"])
    assert.equal((await call("tiny_grow")).text, "grow ran")
    await until(() => serverTools().length === 2, "the new tool is known")
    assert.deepEqual(serverTools(), ["tiny_grow", "tiny_grown"])
    assert.deepEqual(counts, [1, 2])
    const [{ problems }] = (await Mcp.list()) as [Mcp.Status]
    assert.match(problems.join("\n"), /prompts\/list/, "a list that it does not give costs no tool")
  })
})

test("servers follow changes of their files; unchanged servers are not restarted", async () => {
  await using tmp = await tmpdir()
  const log = join(tmp.path, "log")
  const stays = tinyServer({ tools: [{ name: "one" }] }, log)
  tmp.write(".mcp.json", mcpJson({ stays, goes: tinyServer({ tools: [{ name: "two" }] }) }))
  await inInstance(tmp, async () => {
    await connect("stays", "goes")
    assert.deepEqual(serverTools(), ["goes_two", "stays_one"])
    tmp.write(".mcp.json", mcpJson({ stays, comes: tinyServer({ tools: [{ name: "three" }] }) }))
    await Mcp.prepare(signal)
    assert.deepEqual(serverTools(), [], "a changed file starts nothing before it was reviewed")
    await Trust.grant(tmp.path)
    await connect("stays", "comes")
    assert.deepEqual(serverTools(), ["comes_three", "stays_one"])
    assert.equal(readFileSync(log, "utf8"), "started\nstarted\n")
    await Trust.remove(tmp.path)
    await Mcp.prepare(signal)
    assert.deepEqual(serverTools(), [], "no tool stays without trust")
  })
})

test("a server whose program changed is not started until the program is as reviewed", async () => {
  await using tmp = await tmpdir()
  const { args } = tinyServer({ tools: [{ name: "one" }] })
  const program = `import ${JSON.stringify(args[0])}`
  const file = tmp.write("server.mjs", program)
  tmp.write(".mcp.json", mcpJson({ tiny: { command: "node", args: ["server.mjs", ...args.slice(1)] } }))
  await inInstance(tmp, async () => {
    await connect("tiny")
    await Mcp.disconnect("tiny")
    writeFileSync(file, "process.exit(7)")
    const { state, error } = await Mcp.connect("tiny")
    assert.equal(state, "failed")
    assert.match(error ?? "", /is not used: it runs server\.mjs: it changed since it was reviewed/)
    tmp.write(
      ".mcp.json",
      `${mcpJson({ tiny: { command: "node", args: ["server.mjs", ...args.slice(1)] } })}`,
    )
    await assert.rejects(Mcp.connect("tiny"), { name: "MCP.Untrusted" })
    writeFileSync(file, program)
    await connect("tiny")
  })
})

test("a call during which the server ends fails with its stderr, and the next call starts it again", async () => {
  await using tmp = await tmpdir()
  const log = join(tmp.path, "log")
  const tools = [{ name: "die" }, { name: "live" }]
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools }, log) }))
  await inInstance(tmp, async () => {
    await connect("tiny")
    const died = await call("tiny_die")
    assert.equal(died.status, "error")
    assert.match(died.text, /tiny.*out of memory/s)
    assert.deepEqual((await Mcp.list())[0]!.state, "failed")
    const lived = await call("tiny_live")
    assert.equal(lived.text, "live ran")
    assert.equal((await Mcp.list())[0]!.state, "connected")
    assert.equal(readFileSync(log, "utf8").match(/started/g)!.length, 2)
  })
})

test("Mcp.prepare() waits only for servers that were never tried", async () => {
  await using tmp = await tmpdir()
  const log = join(tmp.path, "log")
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools: [{ name: "one" }] }, log) }))
  await inInstance(tmp, async () => {
    const began = performance.now()
    await Mcp.prepare(signal)
    const waited = performance.now() - began
    assert.ok(serverTools().length === 1 || waited >= 3_000, `it waited ${waited} ms only`)
    await until(() => serverTools().length === 1, "it is up")
  })
  await inInstance(tmp, async () => {
    await Mcp.prepare(signal)
    assert.deepEqual(serverTools(), ["tiny_one"])
  })
  assert.equal(readFileSync(log, "utf8"), "started\n")
})

test("a damaged manifest counts as missing", async () => {
  await using tmp = await tmpdir()
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools: [{ name: "one" }] }) }))
  await inInstance(tmp, () => connect("tiny"))
  const folder = join(Global.cache(), "mcp")
  const [file] = readdirSync(folder)
  const whole = JSON.parse(readFileSync(join(folder, file!), "utf8"))
  for (const broken of [
    "{",
    JSON.stringify({ ...whole, tools: [null] }),
    JSON.stringify({ ...whole, prompts: 1 }),
  ]) {
    writeFileSync(join(folder, file!), broken)
    await inInstance(tmp, async () => {
      assert.deepEqual(
        (await Mcp.list()).map(({ state, tools }) => [state, tools]),
        [["idle", 0]],
      )
    })
  }
})
