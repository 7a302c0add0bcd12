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
import { errorText } from "#util/error.ts"

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
