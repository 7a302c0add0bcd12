// Finds tools for a request: built-in ones, tools of MCP servers and of skills. By words and vectors, or by words alone
// without an embedder.
import { createItemIndex, type ItemIndexConfig, type Why } from "./create-item-index.ts"
import type { Document } from "./types.ts"

export type ToolSource = "local" | "mcp" | "skill"
export type DiscoverableTool = {
  /** Unique within its provider. */
  name: string
  description: string
  source: ToolSource
  /** The server or the skill that has it. */
  provider?: string
  /** Parameters with their descriptions, which are searched too. */
  parameters?: Readonly<Record<string, string>>
  /** More words about when to use it. */
  keywords?: readonly string[]
}
type ToolMatch<T> = { tool: T; score: number } & Why
export type ToolDiscovery<T extends DiscoverableTool = DiscoverableTool> = Readonly<{
  /** Adds tools, or replaces those of the same provider and name. Unchanged tools cost next to nothing. */
  register(tools: readonly T[]): Promise<void>
  /** Removes the tools with these names, of all providers. */
  unregister(names: readonly string[]): void
  unregisterProvider(source: ToolSource, provider: string): void
  /** The best first. */
  search(intent: string, options?: ToolSearchOptions): Promise<ToolMatch<T>[]>
  stats(): { tools: number; sources: Record<ToolSource, number> }
  close(): void
}>
type ToolSearchOptions = { limit?: number; source?: ToolSource; provider?: string; minScore?: number }

type Config = Omit<ItemIndexConfig, "path"> & {
  /** Default: in memory. */
  dbPath?: string | undefined
  /** Registered tools enter the index with the next search, not at once. */
  isLazy?: boolean
}

export function createToolDiscovery<T extends DiscoverableTool = DiscoverableTool>(
  config: Config = {},
): ToolDiscovery<T> {
  const { dbPath: path, isLazy = false, ...rest } = config
  const index = createItemIndex<T>(documentOf, { path, ...rest })

  async function register(tools: readonly T[]): Promise<void> {
    for (const tool of tools) index.put(tool)
    if (!isLazy) await index.update()
  }

  function unregister(names: readonly string[]): void {
    const gone = new Set(names)
    index.remove(({ name }) => gone.has(name))
  }

  function unregisterProvider(source: ToolSource, provider: string): void {
    index.remove((tool) => tool.source === source && tool.provider === provider)
  }

  async function search(intent: string, options: ToolSearchOptions = {}): Promise<ToolMatch<T>[]> {
    const { limit, source, provider, minScore = 0 } = options
    const accepts = (tool: T) =>
      (source ?? tool.source) === tool.source && (provider ?? tool.provider) === tool.provider
    const isNarrow = source !== undefined || provider !== undefined
    const found = await index.search(intent, { limit, group: provider, ...(isNarrow && { accepts }) })
    return found
      .filter(({ score }) => score >= minScore)
      .map(({ item, ...rest }) => ({ tool: item, ...rest }))
  }

  function stats() {
    const sources = { local: 0, mcp: 0, skill: 0 }
    const tools = index.items()
    for (const { source } of tools) sources[source]++
    return { tools: tools.length, sources }
  }

  return Object.freeze({ register, unregister, unregisterProvider, search, stats, close: index.close })
}

function documentOf(tool: DiscoverableTool): Document {
  const { name, description, source, provider, parameters = {}, keywords = [] } = tool
  const more = [...Object.entries(parameters).flat(), ...keywords].join(" ")
  const id = JSON.stringify([source, provider, name])
  return { id, group: provider ?? source, name: fullName(tool), text: description, more }
}

/** With the name of its server, unless the name begins with it: people say "on Slack" and mean a tool of that server. */
function fullName({ name, source, provider }: DiscoverableTool): string {
  const has = provider && name.toLowerCase().startsWith(provider.toLowerCase())
  return source === "local" || !provider || has ? name : `${provider} ${name}`
}
