// What MCP servers offer, in one place: searched by words, called by name and server. The tools of this program are in it
// like those of a server named "local".
import type { Slots } from "#ability/tool/run-tool.ts"
import { NamedError } from "#util/error.ts"
import { createCatalog, type Match, type SearchOptions } from "./create-catalog.ts"
import { listOffers } from "./list-offers.ts"
import { callLocalTool, listLocalTools, localId } from "./local-tools.ts"
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
} from "./types.ts"

export type ToolMatch = { tool: MCPTool; serverId: string; score: number }
export type ResourceMatch = { resource: MCPResource; serverId: string; score: number }
export type PromptMatch = { prompt: MCPPrompt; serverId: string; score: number }
export type MCPRegistryConfig = Omit<MCPClientConfig, "server"> & {
  /** Whether the tools of this program are in it; true by default. */
  local?: boolean
  /** What the gate asks before a tool of this program runs. */
  slots?: Slots
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
  servers: {
    add(config: MCPServerConfig): Promise<MCPClient>
    remove(serverId: string): Promise<void>
    list(): MCPServerConfig[]
    get(serverId: string): MCPClient | undefined
  }
  close(): Promise<void>
}>

class ServerNotFound extends NamedError {
  constructor(serverId: string, known: string[]) {
    super(
      "MCP.NotFound",
      `MCP server ${JSON.stringify(serverId)} is not connected here. Connected: ${known.join(", ") || "none"}`,
      { serverId },
    )
  }
}

class ServerExists extends NamedError {
  constructor(serverId: string) {
    super("MCP.Exists", `There is an MCP server ${JSON.stringify(serverId)} already; remove it first`, {
      serverId,
    })
  }
}

export function createMCPRegistry(config: MCPRegistryConfig = {}): MCPRegistry {
  const { local = true, slots, ...clientConfig } = config
  const clients = new Map<string, MCPClient>()
  const tools = createCatalog<MCPTool>(({ name }) => name)
  const resources = createCatalog<MCPResource>(({ uri }) => uri)
  const prompts = createCatalog<MCPPrompt>(({ name }) => name)
  if (local) for (const tool of listLocalTools()) tools.put(tool, localId)

  async function add(server: MCPServerConfig): Promise<MCPClient> {
    if (clients.has(server.id) || server.id === localId) throw new ServerExists(server.id)
    const { createMCPClient } = await import("./create-client.ts")
    const client = createMCPClient({ ...clientConfig, server })
    clients.set(server.id, client)
    try {
      const offers = await listOffers(client, await client.connect())
      for (const tool of offers.tools) tools.put(tool, server.id)
      for (const resource of offers.resources) resources.put(resource, server.id)
      for (const prompt of offers.prompts) prompts.put(prompt, server.id)
      return client
    } catch (error) {
      await remove(server.id)
      throw error
    }
  }

  async function remove(serverId: string): Promise<void> {
    const client = clients.get(serverId)
    clients.delete(serverId)
    for (const catalog of [tools, resources, prompts]) catalog.removeServer(serverId)
    await client?.close()
  }

  function clientOf(serverId: string): MCPClient {
    const client = clients.get(serverId)
    if (!client) throw new ServerNotFound(serverId, [...clients.keys()])
    return client
  }

  async function execute(name: string, args: unknown, serverId: string): Promise<MCPToolResult> {
    if (local && serverId === localId) return callLocalTool({ name, args, slots })
    return clientOf(serverId).callTool(name, (args ?? {}) as Record<string, unknown>)
  }

  return Object.freeze({
    tools: {
      search: async (query, options) =>
        tools.search(query, options).map(({ item: tool, ...rest }: Match<MCPTool>) => ({ tool, ...rest })),
      register: async (tool, serverId) => tools.put(tool, serverId),
      execute,
    },
    resources: {
      search: async (query, options) =>
        resources.search(query, options).map(({ item: resource, ...rest }) => ({ resource, ...rest })),
      register: async (resource, serverId) => resources.put(resource, serverId),
      read: async (uri, serverId) => clientOf(serverId).readResource(uri),
      subscribe: (uri, serverId) => clientOf(serverId).subscribe(uri),
    },
    prompts: {
      search: async (query, options) =>
        prompts.search(query, options).map(({ item: prompt, ...rest }) => ({ prompt, ...rest })),
      register: async (prompt, serverId) => prompts.put(prompt, serverId),
      get: async ({ name, args, serverId }) => clientOf(serverId).getPrompt(name, args),
    },
    servers: {
      add,
      remove,
      list: () => [...clients.values()].map(({ server }) => server),
      get: (serverId) => clients.get(serverId),
    },
    async close() {
      await Promise.all([...clients.keys()].map(remove))
      for (const catalog of [tools, resources, prompts]) catalog.close()
    },
  } satisfies MCPRegistry)
}
