// A registry of the tools, resources and prompts of MCP servers: searched by text, called by name and server. The tools
// of this program belong to a server named "local".

import { listOffers } from "#ability/mcp/client/lists.ts"
import type {
  MCPClient,
  MCPClientConfig,
  MCPPrompt,
  MCPPromptContent,
  MCPResource,
  MCPResourceContent,
  MCPServerConfig,
  MCPTool,
  MCPToolResult,
} from "#ability/mcp/server/types.ts"
import type { Slots } from "#ability/tool/run-tool.ts"
import type { Definition } from "#ability/tool/tool.ts"
import { NamedError } from "#util/error.ts"
import {
  type Catalog,
  type CatalogConfig,
  createCatalog,
  type Kind,
  type Kinds,
  type Match,
  type SearchOptions,
  type Why,
} from "./create-catalog.ts"
import { callLocalTool, localId, localTools, toMCPTool } from "./local-tools.ts"

export type ToolMatch = { tool: MCPTool; serverId: string; score: number } & Why
export type ResourceMatch = { resource: MCPResource; serverId: string; score: number } & Why
export type PromptMatch = { prompt: MCPPrompt; serverId: string; score: number } & Why
/** `limit` counts for each kind separately: tools, resources, prompts. */
export type DiscoveryOptions = SearchOptions
export type MCPRegistryConfig = Omit<MCPClientConfig, "server"> & {
  /** Include the tools of this program. Default: true. */
  local?: boolean
  /** Constraints, permissions and snapshots for the gate, which every tool of this program passes. */
  slots?: Slots
  /** Settings of the search index. */
  index?: CatalogConfig
}

export type MCPRegistry = Readonly<{
  tools: {
    search(query: string, options?: SearchOptions): Promise<ToolMatch[]>
    register(tool: MCPTool, serverId: string): Promise<void>
    execute(name: string, args: unknown, serverId: string): Promise<MCPToolResult>
  }
  resources: {
    search(query: string, options?: SearchOptions): Promise<ResourceMatch[]>
    register(resource: MCPResource, serverId: string): Promise<void>
    read(uri: string, serverId: string): Promise<MCPResourceContent[]>
    subscribe(uri: string, serverId: string): AsyncIterable<{ uri: string }>
  }
  prompts: {
    search(query: string, options?: SearchOptions): Promise<PromptMatch[]>
    register(prompt: MCPPrompt, serverId: string): Promise<void>
    get(prompt: { name: string; args?: Record<string, string>; serverId: string }): Promise<MCPPromptContent>
  }
  /** The best matches of every kind. */
  discoverRelevant(
    intent: string,
    options?: DiscoveryOptions,
  ): Promise<{ tools: ToolMatch[]; resources: ResourceMatch[]; prompts: PromptMatch[] }>
  servers: {
    add(config: MCPServerConfig): Promise<MCPClient>
    remove(serverId: string): Promise<void>
    list(): MCPServerConfig[]
    get(serverId: string): MCPClient | undefined
  }
  close(): Promise<void>
}>

export function createMCPRegistry(config: MCPRegistryConfig = {}): MCPRegistry {
  const { local = true, slots, index, ...clientConfig } = config
  const clients = new Map<string, MCPClient>()
  const catalog = createCatalog(index)
  const locals = new Map<string, Definition>()

  /** The catalog, after the new tools of this program were added. */
  async function current(): Promise<Catalog> {
    const fresh = (local ? localTools() : []).filter((tool) => locals.get(tool.id) !== tool)
    for (const tool of fresh) locals.set(tool.id, tool)
    // Added concurrently, so that another search does not find only some of them.
    await Promise.all(fresh.map((tool) => catalog.put("tool", toMCPTool(tool), localId)))
    return catalog
  }

  async function add(server: MCPServerConfig): Promise<MCPClient> {
    if (clients.has(server.id) || server.id === localId)
      throw new NamedError(
        "MCP.Exists",
        `There is an MCP server ${JSON.stringify(server.id)} already; remove it first`,
        { serverId: server.id },
      )
    const { createMCPClient } = await import("#ability/mcp/client/create-client.ts")
    const client = createMCPClient({ ...clientConfig, server })
    clients.set(server.id, client)
    try {
      const { tools, resources, prompts } = await listOffers(client, await client.connect())
      await Promise.all([
        ...tools.map((tool) => catalog.put("tool", tool, server.id)),
        ...resources.map((resource) => catalog.put("resource", resource, server.id)),
        ...prompts.map((prompt) => catalog.put("prompt", prompt, server.id)),
      ])
      return client
    } catch (error) {
      await remove(server.id)
      throw error
    }
  }

  async function remove(serverId: string): Promise<void> {
    const client = clients.get(serverId)
    clients.delete(serverId)
    catalog.removeServer(serverId)
    await client?.close()
  }

  function clientOf(serverId: string): MCPClient {
    const client = clients.get(serverId)
    if (!client)
      throw new NamedError(
        "MCP.NotFound",
        `MCP server ${JSON.stringify(serverId)} is not connected here. Connected: ${[...clients.keys()].join(", ") || "none"}`,
        { serverId },
      )
    return client
  }

  async function execute(name: string, args: unknown, serverId: string): Promise<MCPToolResult> {
    if (local && serverId === localId) return callLocalTool({ name, args, slots })
    return clientOf(serverId).callTool(name, (args ?? {}) as Record<string, unknown>)
  }

  return Object.freeze({
    tools: {
      search: async (query, options) =>
        (await (await current()).search("tool", query, options)).map((match) => named("tool", match)),
      register: async (tool, serverId) => catalog.put("tool", tool, serverId),
      execute,
    },
    resources: {
      search: async (query, options) =>
        (await (await current()).search("resource", query, options)).map((match) => named("resource", match)),
      register: async (resource, serverId) => catalog.put("resource", resource, serverId),
      read: async (uri, serverId) => clientOf(serverId).readResource(uri),
      subscribe: (uri, serverId) => clientOf(serverId).subscribe(uri),
    },
    prompts: {
      search: async (query, options) =>
        (await (await current()).search("prompt", query, options)).map((match) => named("prompt", match)),
      register: async (prompt, serverId) => catalog.put("prompt", prompt, serverId),
      get: async ({ name, args, serverId }) => clientOf(serverId).getPrompt(name, args),
    },
    async discoverRelevant(intent, options) {
      const found = await (await current()).searchAll(intent, options)
      return {
        tools: found.tool.map((match) => named("tool", match)),
        resources: found.resource.map((match) => named("resource", match)),
        prompts: found.prompt.map((match) => named("prompt", match)),
      }
    },
    servers: {
      add,
      remove,
      list: () => [...clients.values()].map(({ server }) => server),
      get: (serverId) => clients.get(serverId),
    },
    async close() {
      await Promise.all([...clients.keys()].map(remove))
      catalog.close()
    },
  } satisfies MCPRegistry)
}

/** Converts `{ item, … }` into `{ tool, … }`, `{ resource, … }` or `{ prompt, … }`. */
function named<K extends Kind>(kind: K, { item, ...rest }: Match<K>) {
  return { [kind]: item, ...rest } as { [P in K]: Kinds[P] } & Omit<Match<K>, "item">
}
