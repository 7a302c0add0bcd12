// The tools for what a person wants, the best first. Of several wishes none may crowd out the others, and where nothing fits,
// nothing is better than what happens to be nearest: it would be sent with every request.
import { type FoundTool, searchTools } from "#ability/mcp/search-tools.ts"
import type { Definition } from "#ability/tool/tool.ts"

/** Requests that no tool is for are nearer than that to none, those that one is for to several. */
const nearEnough = 0.35
const maxWishes = 6
const leastWords = 3
/** Of what is asked for. A server that has one thing under many names, or all words in each, must not shut out the others. */
const mostOfOne = 0.7
/** What the first request of a session has at most, of the many that are looked at for it. */
const atFirst = 10

type Among = { tools: readonly Definition[]; limit: number }

export async function discoverTools(intent: string, among: Among): Promise<Definition[]> {
  const found: Definition[][] = []
  for (const words of [intent, ...wishesOf(intent)]) found.push(fitting(await search(words, among)))
  return spread(inTurns(found), atFirst).slice(0, among.limit)
}

/** The same for words that a model looks for: as many as it asks for, of those that `isNear`, of no server nearly all. */
export async function searchSpread(
  words: string,
  { isNear, ...among }: Among & { isNear(found: FoundTool): boolean },
): Promise<Definition[]> {
  const found = (await search(words, among)).filter(isNear)
  return spread(
    found.map(({ tool }) => tool),
    among.limit,
  ).slice(0, among.limit)
}

/** Where one server has all the best places, also the best of the others. */
async function search(words: string, among: Among): Promise<FoundTool[]> {
  const found = await searchTools(words, among)
  const [first] = found
  if (found.length < among.limit || found.some(({ tool }) => tool.server !== first?.tool.server)) return found
  const others = among.tools.filter(({ server }) => server !== first?.tool.server)
  return [...found, ...(await searchTools(words, { ...among, tools: others }))]
}

/** What a server has beyond its best, of so many that are wanted, stands behind what others have. */
function spread(tools: Definition[], wanted: number): Definition[] {
  const most = Math.ceil(mostOfOne * wanted)
  const counts = new Map<string, number>()
  const best = tools.filter(({ server }) => {
    if (server === undefined) return true
    const count = (counts.get(server) ?? 0) + 1
    counts.set(server, count)
    return count <= most
  })
  return [...new Set([...best, ...tools])]
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
