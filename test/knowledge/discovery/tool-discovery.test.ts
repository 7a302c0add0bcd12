// Tools of every source, found by what is wanted.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/discovery/create-embedder.ts"
import { createToolDiscovery, type DiscoverableTool } from "#knowledge/discovery/tool-discovery.ts"
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

test("with an embedder it finds what shares no word", async () => {
  const discovery = createToolDiscovery({ embedder: createEmbedder() })
  await discovery.register(tools)
  const [best] = await discovery.search("visualize statistics as a graph")
  assert.equal(best?.tool.name, "render_chart")
  assert.equal(best.tool.source, "skill")
  assert.ok(best.vector)
  assert.deepEqual(await discovery.search("visualize statistics", { minScore: 99 }), [])
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

test("a file is used again without embedding, and forgets tools that are no longer registered", async () => {
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
