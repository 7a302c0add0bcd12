// The tools for what a person wants, the best first. Of several wishes none may crowd out the others, and where nothing fits,
// nothing is better than what happens to be nearest: it would be sent with every request.
import { type FoundTool, searchTools } from "#ability/mcp/search-tools.ts"
import type { Definition } from "#ability/tool/tool.ts"

/** Requests that no tool is for are nearer than that to none, those that one is for to several. */
const nearEnough = 0.35
const maxWishes = 6
const leastWords = 3

export async function discoverTools(
  intent: string,
  options: { tools: readonly Definition[]; limit: number },
): Promise<Definition[]> {
  const found: Definition[][] = []
  for (const words of [intent, ...wishesOf(intent)]) found.push(fitting(await searchTools(words, options)))
  return inTurns(found).slice(0, options.limit)
}

/** Where there are vectors at all, words that are shared by chance do not count. */
function fitting(found: FoundTool[]): Definition[] {
  const isByMeaning = found.some(({ vector }) => vector)
  return found
    .filter(({ vector }) => !isByMeaning || (vector?.score ?? 0) >= nearEnough)
    .map(({ tool }) => tool)
}

/** What is asked for one after the other, each by itself. */
function wishesOf(intent: string): string[] {
  const parts = intent.split(/[.!?;:,]\s+|\n+|\b(?:and )?then\b/).map((part) => part.trim())
  const wishes = parts.filter((part) => part.split(/\s+/).length >= leastWords)
  return wishes.length > 1 ? wishes.slice(0, maxWishes) : []
}

function inTurns<T>(lists: T[][]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length))
  const all = Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat()
  return [...new Set(all)]
}
