// Finds tools of every source by what a person wants to do.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import {
  createToolDiscovery,
  type DiscoverableTool,
  type ToolSource,
} from "#knowledge/index/tool-discovery.ts"
import { countingEmbedder } from "../../fixture/embedder/counting-embedder.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const tools: DiscoverableTool[] = [
  {
    name: "fs_read",
    description: "Shows the content of a file",
    source: "local",
    parameters: { path: "where" },
  },
  {
    name: "github_create_issue",
    description: "Opens an issue in a repository",
    source: "mcp",
    provider: "github",
    keywords: ["bug report"],
  },
  { name: "github_merge", description: "Merges a pull request", source: "mcp", provider: "github" },
  { name: "render_chart", description: "Draws a diagram of numbers", source: "skill", provider: "charts" },
]
const names = (matches: { tool: DiscoverableTool }[]) => matches.map(({ tool }) => tool.name)

test("createToolDiscovery() finds by words alone, and says how many tools each source has", async () => {
  const discovery = createToolDiscovery()
  await discovery.register(tools)
  assert.deepEqual(names(await discovery.search("file a bug report"))[0], "github_create_issue")
  assert.deepEqual(names(await discovery.search("paths")), ["fs_read"], "by its parameters")
  assert.deepEqual(discovery.stats(), { tools: 4, sources: { local: 1, mcp: 2, skill: 1 } })
  discovery.close()
})

test("agents elsewhere (A2A) are no source of tools: ToolSource is local, mcp or skill", () => {
  const sources: Record<ToolSource, number> = createToolDiscovery().stats().sources
  assert.deepEqual(Object.keys(sources), ["local", "mcp", "skill"])
  // @ts-expect-error
  const source: ToolSource = "a2a"
  assert.equal(source in sources, false)
})

test("with an embedder it finds tools that share no word with the request", async () => {
  const discovery = createToolDiscovery({ embedder: createEmbedder() })
  await discovery.register(tools)
  const [best] = await discovery.search("visualize statistics as a graph")
  assert.equal(best?.tool.name, "render_chart")
  assert.equal(best.tool.source, "skill")
  assert.ok(best.vector)
  assert.deepEqual(await discovery.search("visualize statistics", { minScore: 99 }), [])
  discovery.close()
})

test("a server is found by its name, which counts like the tool's own", async () => {
  const discovery = createToolDiscovery({ embedder: createEmbedder() })
  const description = "Posts a message to a channel"
  const of = (provider: string): DiscoverableTool => ({ name: "post", description, source: "mcp", provider })
  await discovery.register(["discord", "slack", "zulip"].map(of))
  const [best, next] = await discovery.search("tell the team on Slack that we are done")
  assert.equal(best?.tool.provider, "slack")
  assert.ok(best.score > next!.score + 0.2, `${best.score} and ${next!.score}`)
  discovery.close()
})

test("search() keeps to a source and a limit; what was unregistered is gone", async () => {
  const discovery = createToolDiscovery({ embedder: createEmbedder() })
  await discovery.register(tools)
  const query = "open a file or an issue, merge, draw"
  assert.deepEqual(names(await discovery.search(query, { source: "skill" })), ["render_chart"])
  assert.equal((await discovery.search(query, { limit: 2 })).length, 2)
  assert.equal((await discovery.search(query, { limit: 1, source: "local" }))[0]?.tool.name, "fs_read")
  discovery.unregisterProvider("mcp", "github")
  discovery.unregister(["fs_read"])
  assert.deepEqual(names(await discovery.search(query)), ["render_chart"])
  assert.deepEqual(discovery.stats(), { tools: 1, sources: { local: 0, mcp: 0, skill: 1 } })
  discovery.close()
})

test("tools of two providers may have one name; each is found, replaced and removed by itself", async () => {
  const discovery = createToolDiscovery()
  const search = (provider: string, description = `Searches the ${provider}`): DiscoverableTool => {
    return { name: "search", description, source: "mcp", provider }
  }
  const found = async (options?: Parameters<typeof discovery.search>[1]) =>
    (await discovery.search("search", options)).map(({ tool }) => tool.description).sort()
  await discovery.register([search("forge"), search("wiki"), { ...search("wiki"), source: "skill" }])
  assert.deepEqual(await found(), ["Searches the forge", "Searches the wiki", "Searches the wiki"])
  await discovery.register([search("wiki", "Searches all pages")])
  assert.deepEqual(await found({ provider: "wiki" }), ["Searches all pages", "Searches the wiki"])
  assert.deepEqual(await found({ provider: "wiki", source: "mcp", limit: 1 }), ["Searches all pages"])
  discovery.unregisterProvider("mcp", "wiki")
  assert.deepEqual(await found(), ["Searches the forge", "Searches the wiki"])
  discovery.unregister(["search"])
  assert.deepEqual(await found(), [])
  discovery.close()
})

test("register() indexes at once, or with the next search where it is lazy", async () => {
  await using tmp = await tmpdir()
  const embedder = countingEmbedder("a", ["file", "issue", "chart"])
  const eager = createToolDiscovery({ embedder })
  await eager.register(tools)
  assert.equal(embedder.texts.length, 4)
  eager.close()
  const dbPath = join(tmp.path, "tools.db")
  const lazy = createToolDiscovery({ dbPath, embedder, isLazy: true })
  await lazy.register(tools)
  assert.deepEqual([embedder.texts.length, existsSync(dbPath)], [4, false])
  assert.equal(lazy.stats().tools, 4)
  assert.equal(names(await lazy.search("an issue"))[0], "github_create_issue")
  assert.deepEqual([embedder.texts.length, existsSync(dbPath)], [9, true])
  lazy.close()
})

test("a file is reused without embedding, and removes tools that are no longer registered", async () => {
  await using tmp = await tmpdir()
  const dbPath = join(tmp.path, "tools.db")
  const embedder = countingEmbedder("a", ["file", "issue", "chart"])
  const before = createToolDiscovery({ dbPath, embedder })
  await before.register(tools)
  before.close()
  const after = createToolDiscovery({ dbPath, embedder })
  await after.register(tools.slice(0, 2))
  assert.equal(embedder.texts.length, 4)
  assert.deepEqual(names(await after.search("draw a chart for an issue")), ["github_create_issue"])
  const other = createToolDiscovery({ dbPath, embedder })
  await other.register(tools.slice(2))
  assert.deepEqual(names(await other.search("draw a chart")), ["render_chart"])
  assert.deepEqual(
    names(await after.search("an issue")),
    ["github_create_issue"],
    "the other's are not in the way",
  )
  other.close()
  after.close()
})
