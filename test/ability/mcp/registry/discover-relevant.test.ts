// Finds what fits an intent among all that servers offer (tools, resources, prompts), in one index.
import assert from "node:assert/strict"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import { loadRegistry } from "#ability/mcp/load-registry.ts"
import { createMCPRegistry, type MCPRegistry } from "#ability/mcp/registry/create-registry.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { domainNames, toolsOf } from "../../../fixture/mcp/many-tools.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

async function fill(registry: MCPRegistry): Promise<void> {
  for (const id of domainNames) for (const tool of toolsOf(id)) await registry.tools.register(tool, id)
  const about = (what: string) => ({ name: what, description: `How ${what} is done` })
  await registry.resources.register({ uri: "note://refunds", ...about("giving refunds") }, "billing")
  await registry.resources.register({ uri: "note://tides", ...about("reading tides") }, "weather")
  await registry.prompts.register(about("write a refund letter"), "billing")
  await registry.prompts.register(about("plan a concert"), "music")
}

test("discoverRelevant() gives tools, resources and prompts, each the best first and no more than wanted", async () => {
  const registry = createMCPRegistry({ local: false })
  await fill(registry)
  const { tools, resources, prompts } = await registry.discoverRelevant("create a refund", { limit: 5 })
  assert.equal(tools[0]!.tool.name, "create_refund")
  assert.equal(tools[0]!.serverId, "billing")
  assert.equal(tools.length, 5)
  assert.equal(resources[0]!.resource.uri, "note://refunds")
  assert.equal(prompts[0]!.prompt.name, "write a refund letter")
  for (const matches of [tools, resources, prompts])
    assert.ok(matches.every(({ score }, i) => score <= (matches[i - 1]?.score ?? score)))
  assert.deepEqual(Object.keys(tools[0]!).sort().slice(0, 3), ["score", "serverId", "text"])
  const music = await registry.discoverRelevant("create a refund", { serverId: "music" })
  assert.ok([...music.tools, ...music.prompts].every(({ serverId }) => serverId === "music"))
  assert.deepEqual(music.resources, [])
  await registry.close()
})

test("tools, resources and prompts are each found among many of the others", async () => {
  const registry = createMCPRegistry({ local: false })
  await fill(registry)
  const [resource] = await registry.resources.search("create a refund", { limit: 1 })
  assert.equal(resource!.resource.uri, "note://refunds")
  const [prompt] = await registry.prompts.search("create a refund", { limit: 1 })
  assert.equal(prompt!.prompt.name, "write a refund letter")
  const tools = await registry.tools.search("create a refund", { limit: 2 })
  assert.equal(tools.length, 2)
  await registry.servers.remove("billing")
  assert.ok((await registry.tools.search("create a refund")).every(({ serverId }) => serverId !== "billing"))
  await registry.tools.register({ ...toolsOf("billing")[7]!, description: "Pays back" }, "billing")
  const [back] = await registry.tools.search("create a refund, pays back")
  assert.equal(back!.tool.description, "Pays back")
  await registry.close()
  const empty = createMCPRegistry({ local: false })
  assert.deepEqual(await empty.discoverRelevant("x"), { tools: [], resources: [], prompts: [] })
  await empty.close()
})

test("a tool, a resource and a prompt of one name at two servers are six things", async () => {
  const registry = createMCPRegistry({ local: false })
  const about = { name: "refund", description: "Gives a refund" }
  for (const id of ["shop", "bank"]) {
    await registry.tools.register({ ...about, inputSchema: { type: "object" } }, id)
    await registry.resources.register({ ...about, uri: "note://refund" }, id)
    await registry.prompts.register(about, id)
  }
  const of = async (serverId?: string) => {
    const found = await registry.discoverRelevant("a refund", serverId ? { serverId } : {})
    return Object.values(found).map((matches) => matches.map((match) => match.serverId).sort())
  }
  const both = ["bank", "shop"]
  assert.deepEqual(await of(), [both, both, both])
  assert.deepEqual(await of("shop"), [["shop"], ["shop"], ["shop"]])
  await registry.servers.remove("shop")
  assert.deepEqual(await of(), [["bank"], ["bank"], ["bank"]])
  await registry.close()
})

test("a resource far behind the tools is left out, even if it is the best resource", async () => {
  const registry = createMCPRegistry({ local: false })
  for (const tool of toolsOf("billing")) await registry.tools.register(tool, "billing")
  await registry.resources.register({ uri: "note://tides", name: "create a map of tides" }, "weather")
  assert.equal((await registry.resources.search("create a refund")).length, 1)
  const { tools, resources } = await registry.discoverRelevant("create a refund")
  assert.equal(tools[0]!.tool.name, "create_refund")
  assert.deepEqual(resources, [])
  await registry.close()
})

test("by words alone, one of few prompts is found beside many tools", async () => {
  const registry = createMCPRegistry({ local: false, index: { embedder: undefined } })
  await fill(registry)
  const { tools, prompts } = await registry.discoverRelevant("a refund letter")
  assert.match(tools[0]!.tool.name, /refund/)
  assert.equal(prompts[0]!.prompt.name, "write a refund letter")
  assert.equal(tools[0]!.vector, undefined)
  await registry.close()
})

test("an index file is opened by the first search, and entries of another registry are not found", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  const first = createMCPRegistry({ local: false, index: { path } })
  await fill(first)
  assert.equal(existsSync(path), false)
  assert.equal((await first.tools.search("create a refund"))[0]!.tool.name, "create_refund")
  await first.close()
  const second = createMCPRegistry({ local: false, index: { path } })
  for (const tool of toolsOf("music")) await second.tools.register(tool, "music")
  const found = await second.tools.search("create a refund", { limit: 100 })
  assert.ok(found.every(({ serverId }) => serverId === "music"))
  await second.close()
})

test("loadRegistry() has the current tools of the instance, even after the file broke", async () => {
  await using tmp = await tmpdir()
  const names = async (words: string) =>
    (await (await loadRegistry()).tools.search(words)).map(({ tool, serverId }) => `${serverId}/${tool.name}`)
  const server = (count: number) => ({
    server: { id: "billing" },
    listTools: async () => toolsOf("billing").slice(0, count),
    callTool: async () => ({ content: [], isError: false }),
  })
  const inside = (fn: () => Promise<void>) => Instance.provide({ directory: tmp.path, fn })
  await inside(async () => {
    await ToolRegistry.loadFromMCP(server(31))
    assert.equal((await names("create a refund"))[0], "billing/create_refund")
    await ToolRegistry.loadFromMCP(server(1))
    assert.ok(!(await names("create a refund")).includes("billing/create_refund"))
    Tool.define("repay", () => ({
      description: "Create a refund",
      parameters: z.object({}),
      execute: async () => "",
    }))
    assert.ok((await names("create a refund")).includes("local/repay"))
  })
  await Instance.disposeAll()
  const folder = join(Global.cache(), "discovery")
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "no database")
  await inside(async () => {
    await ToolRegistry.loadFromMCP(server(31))
    assert.equal((await names("create a refund"))[0], "billing/create_refund")
  })
  await Instance.disposeAll()
})

test("concurrent calls of loadRegistry() all get the complete registry", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      await ToolRegistry.loadFromMCP({
        server: { id: "billing" },
        listTools: async () => toolsOf("billing"),
        callTool: async () => ({ content: [], isError: false }),
      })
      const count = async () => (await (await loadRegistry()).tools.search("create", { limit: 1_000 })).length
      const [first, second] = await Promise.all([count(), count()])
      assert.ok(first! > 5)
      assert.equal(second, first)
    },
  })
  await Instance.disposeAll()
})

test("one server may offer 527 tools, and they are found", async () => {
  await using tmp = await tmpdir()
  const tools = domainNames.flatMap(toolsOf)
  const callTool = async () => ({ content: [], isError: false })
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const all = { server: { id: "all" }, listTools: async () => tools, callTool }
      assert.deepEqual(await ToolRegistry.loadFromMCP(all), [])
      const registry = await loadRegistry()
      const { tools: found } = await registry.discoverRelevant("create a recipe", { limit: 1 })
      assert.equal(found[0]!.tool.name, "create_recipe")
    },
  })
  await Instance.disposeAll()
})
