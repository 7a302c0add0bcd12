// Sessions with the tools of many in-process servers: which tools were called, and the size of requests.
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { usualTools } from "../../fixture/builtin-tools.ts"
import type { Request } from "../../fixture/fake-llm.ts"
import { domainNames, type ManyTool, toolsOf } from "../../fixture/mcp/many-tools.ts"

export type Called = { tool: string; args: unknown }[]

/** One server per domain, 527 tools together. Returns the calls. */
export async function loadMany(domains = domainNames): Promise<Called> {
  const called: Called = []
  for (const id of domains) await loadServer(id, { tools: toolsOf(id), called })
  return called
}

export async function loadServer(id: string, options: { tools: ManyTool[]; called: Called }): Promise<void> {
  const { tools, called } = options
  await ToolRegistry.loadFromMCP({
    server: { id },
    listTools: async () => tools,
    async callTool(name, args) {
      called.push({ tool: `${id}/${name}`, args })
      return { content: [{ type: "text", text: `${name} is done` }], isError: false }
    },
  })
}

export function namesOf({ tools }: Request): string[] {
  return tools.map(({ name }) => name)
}

/** Tokens of the definitions that a request has beyond the built-in tools. */
export function tokensBeyond({ body }: Request): number {
  const tools = body.tools as { function: { name: string } }[]
  const beyond = tools.filter(({ function: { name } }) => !usual.has(name))
  return beyond.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0)
}

const usual = new Set(usualTools)
