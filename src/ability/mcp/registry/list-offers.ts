// Reads the lists of a server, each only if the server announces it. A broken list does not spoil the others, but
// without its tools a server counts as failed.

import type {
  MCPClient,
  MCPPrompt,
  MCPResource,
  MCPResourceTemplate,
  MCPServerInfo,
  MCPTool,
} from "#ability/mcp/server/types.ts"
import { serverToolId } from "#ability/tool/server-tools.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { errorText } from "#util/error.ts"
import { placeOf } from "./local-tools.ts"

export type Offers = {
  tools: MCPTool[]
  resources: MCPResource[]
  templates: MCPResourceTemplate[]
  prompts: MCPPrompt[]
  /** Milliseconds for which all of it holds, where the server says so. */
  ttl?: number
  /** What went wrong with its lists. */
  problems?: string[]
}

const maxSaid = 20

export async function listOffers(client: MCPClient, { capabilities }: MCPServerInfo): Promise<Offers> {
  const problems: string[] = []
  const orNone = (error: unknown) => {
    problems.push(errorText(error))
    return []
  }
  let ttl = Number.POSITIVE_INFINITY
  const options = {
    onTtl(ms: number) {
      ttl = Math.min(ttl, ms)
    },
  }
  const [tools, resources, templates, prompts] = await Promise.all([
    capabilities.tools ? client.listTools(options) : [],
    capabilities.resources ? client.listResources(options).catch(orNone) : [],
    // Many have none and do not even know the question.
    capabilities.resources ? client.listResourceTemplates(options).catch(() => []) : [],
    capabilities.prompts ? client.listPrompts(options).catch(orNone) : [],
  ])
  return {
    tools,
    resources,
    templates,
    prompts,
    ...(Number.isFinite(ttl) ? { ttl } : {}),
    ...(problems.length ? { problems } : {}),
  }
}

/** The grant was for a tool with another description. */
export function sayChangedTools(
  serverId: string,
  { before, now }: { before: MCPTool[]; now: MCPTool[] },
): string[] {
  const known = new Map(before.map((tool) => [tool.name, JSON.stringify(tool)]))
  return now
    .filter((tool) => (known.get(tool.name) ?? JSON.stringify(tool)) !== JSON.stringify(tool))
    .slice(0, maxSaid)
    .map(({ name }) => `tool "${shownId(serverId, name)}" says something else of itself than before`)
}

/** Its name may have met that of another. */
function shownId(serverId: string, name: string): string {
  const place = `${serverId}/${name}`
  const tool = ToolRegistry.list().find((tool) => tool.server === serverId && placeOf(tool) === place)
  return tool?.id ?? serverToolId(serverId, name)
}
