// Searches the given tools by what they do, best match first.

import type { Why } from "#ability/mcp/registry/create-catalog.ts"
import { placeOf } from "#ability/mcp/registry/local-tools.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { loadRegistry } from "./load-registry.ts"

export type FoundTool = { tool: Definition; score: number } & Why

const maxWords = 2_000

export async function searchTools(
  words: string,
  { tools, limit = 10 }: { tools: Iterable<Definition>; limit?: number },
): Promise<FoundTool[]> {
  const byPlace = new Map<string, Definition>()
  for (const tool of tools) byPlace.set(placeOf(tool), tool)
  const registry = await loadRegistry()
  // Other tools of the registry may rank before the given ones.
  const rest = ToolRegistry.list().length - byPlace.size
  const found = await registry.discoverRelevant(ends(words), { limit: limit + rest })
  return found.tools
    .flatMap(({ tool: { name }, serverId, ...why }) => {
      const tool = byPlace.get(`${serverId}/${name}`)
      return tool ? [{ tool, ...why }] : []
    })
    .slice(0, limit)
}

/** People state the request before or after pasted text. */
function ends(words: string): string {
  if (words.length <= maxWords) return words
  return `${words.slice(0, maxWords / 2)}\n${words.slice(-maxWords / 2)}`
}
