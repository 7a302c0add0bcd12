// Finds tools by what is wanted, wherever they come from: our own, those of MCP servers, those that skills bring. Words and
// vectors together; words alone where there is no embedder.
import { createIndex } from "./create-index.ts"
import type { Document, Embedder, Hit } from "./types.ts"

export type ToolSource = "local" | "mcp" | "skill"
export type DiscoverableTool = {
  /** As it is called; unique among all. */
  name: string
  description: string
  source: ToolSource
  /** The server or the skill that has it. */
  provider?: string
  /** Names of parameters with their descriptions, to be found by. */
  parameters?: Readonly<Record<string, string>>
  /** What else is said about when to use it. */
  keywords?: readonly string[]
}
type ToolMatch = {
  tool: DiscoverableTool
  score: number
  text?: Hit["text"]
  vector?: Hit["vector"]
}
export type ToolDiscovery = Readonly<{
  /** In the place of what had these names before; what did not change costs next to nothing. */
  register(tools: readonly DiscoverableTool[]): Promise<void>
  unregister(names: readonly string[]): void
  unregisterProvider(source: ToolSource, provider: string): void
  /** The best first. */
  search(intent: string, options?: ToolSearchOptions): Promise<ToolMatch[]>
  stats(): { tools: number; sources: Record<ToolSource, number> }
  close(): void
}>
type ToolSearchOptions = { limit?: number; source?: ToolSource; minScore?: number }

type Config = {
  /** In memory where it is left out. */
  dbPath?: string
  /** Without one, words alone decide. */
  embedder?: Embedder
}

const usualLimit = 10

export function createToolDiscovery({ dbPath, embedder }: Config = {}): ToolDiscovery {
  const index = createIndex({ ...(dbPath && { path: dbPath }), embedder })
  const known = new Map<string, DiscoverableTool>()

  async function register(tools: readonly DiscoverableTool[]): Promise<void> {
    for (const tool of tools) known.set(tool.name, tool)
    await index.put(tools.map(toDocument))
  }

  function unregister(names: readonly string[]): void {
    for (const name of names) known.delete(name)
    index.remove(names)
  }

  function unregisterProvider(source: ToolSource, provider: string): void {
    const group = groupOf(source, provider)
    for (const tool of known.values())
      if (groupOf(tool.source, tool.provider) === group) known.delete(tool.name)
    index.removeGroup(group)
  }

  async function search(intent: string, options: ToolSearchOptions = {}): Promise<ToolMatch[]> {
    const { limit = usualLimit, source, minScore = 0 } = options
    if (dbPath) await settle()
    const hits = await index.search(intent, { limit: source ? Math.max(limit, known.size) : limit })
    const matches = hits.flatMap(({ id, ...hit }) => {
      const tool = known.get(id)
      return tool && (!source || tool.source === source) && hit.score >= minScore ? [{ tool, ...hit }] : []
    })
    return matches.slice(0, limit)
  }

  /** A file remembers what was registered before, or by another process: what is registered here now counts. */
  async function settle(): Promise<void> {
    const ids = index.ids()
    const strangers = ids.filter((id) => !known.has(id))
    if (!strangers.length && ids.length === known.size) return
    index.remove(strangers)
    await index.put([...known.values()].map(toDocument))
  }

  function stats() {
    const sources = { local: 0, mcp: 0, skill: 0 }
    for (const { source } of known.values()) sources[source]++
    return { tools: known.size, sources }
  }

  return Object.freeze({ register, unregister, unregisterProvider, search, stats, close: index.close })
}

function toDocument(tool: DiscoverableTool): Document {
  const { name, description, source, provider, parameters = {}, keywords = [] } = tool
  const more = [...Object.entries(parameters).flat(), ...keywords].join(" ")
  return { id: name, group: groupOf(source, provider), name, text: description, more }
}

function groupOf(source: ToolSource, provider: string | undefined): string {
  return provider === undefined ? source : `${source} ${provider}`
}
