// What a server offers, each list only where it says that it has one. One of whose lists one is broken is still good for
// the others; without its tools it is good for little.
import { errorText } from "#util/error.ts"
import type {
  MCPClient,
  MCPPrompt,
  MCPResource,
  MCPResourceTemplate,
  MCPServerInfo,
  MCPTool,
} from "./types.ts"

export type Offers = {
  tools: MCPTool[]
  resources: MCPResource[]
  templates: MCPResourceTemplate[]
  prompts: MCPPrompt[]
  /** What went wrong with its lists. */
  problems?: string[]
}

export async function listOffers(client: MCPClient, { capabilities }: MCPServerInfo): Promise<Offers> {
  const problems: string[] = []
  const orNone = (error: unknown) => {
    problems.push(errorText(error))
    return []
  }
  const [tools, resources, templates, prompts] = await Promise.all([
    capabilities.tools ? client.listTools() : [],
    capabilities.resources ? client.listResources().catch(orNone) : [],
    // Many have none and do not even know the question.
    capabilities.resources ? client.listResourceTemplates().catch(() => []) : [],
    capabilities.prompts ? client.listPrompts().catch(orNone) : [],
  ])
  return { tools, resources, templates, prompts, ...(problems.length ? { problems } : {}) }
}
