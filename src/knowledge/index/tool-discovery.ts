// Finds tools by what is wanted, wherever they come from: our own, those of MCP servers, those that skills bring. Words and
// vectors together; words alone where there is no embedder.
import { createItemIndex, type ItemIndexConfig, type Why } from "./create-item-index.ts"
import type { Document } from "./types.ts"

export type ToolSource = "local" | "mcp" | "skill"
export type DiscoverableTool = {
  /** Unique among those of its provider. */
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
type ToolMatch<T> = { tool: T; score: number } & Why
export type ToolDiscovery<T extends DiscoverableTool = DiscoverableTool> = Readonly<{
  /** In the place of what their providers had of these names before; what did not change costs next to nothing. */
  register(tools: readonly T[]): Promise<void>
  /** Whoever provides them. */
  unregister(names: readonly string[]): void
  unregisterProvider(source: ToolSource, provider: string): void
  /** The best first. */
  search(intent: string, options?: ToolSearchOptions): Promise<ToolMatch<T>[]>
  stats(): { tools: number; sources: Record<ToolSource, number> }
  close(): void
}>
type ToolSearchOptions = { limit?: number; source?: ToolSource; provider?: string; minScore?: number }

type Config = Omit<ItemIndexConfig, "path"> & {
  /** In memory where it is left out. */
  dbPath?: string | undefined
  /** Whether what is registered enters the index with the next search, not before. */
  isLazy?: boolean
}

export function createToolDiscovery<T extends DiscoverableTool = DiscoverableTool>(
  config: Config = {},
): ToolDiscovery<T> {
  const { dbPath: path, isLazy = false, ...rest } = config
  const index = createItemIndex<T>(documentOf, { path, ...rest })

  async function register(tools: readonly T[]): Promise<void> {
    for (const tool of tools) index.put(tool)
    if (!isLazy) await index.takeIn()
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

/** People say "on Slack" and mean a tool of that server: its name is part of the tool's, unless it is already. */
function fullName({ name, source, provider }: DiscoverableTool): string {
  const has = provider && name.toLowerCase().startsWith(provider.toLowerCase())
  return source === "local" || !provider || has ? name : `${provider} ${name}`
}
