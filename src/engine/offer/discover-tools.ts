// The tools for what a person wants, the best first. Where nothing fits, nothing is better than what happens to be nearest: it
// would be sent with every request.
import { type FoundTool, searchTools } from "#ability/mcp/search-tools.ts"
import type { Definition } from "#ability/tool/tool.ts"
import { takeNear, wishesOf } from "#knowledge/index/tool-fit.ts"

/** Of what is asked for. A server that has one thing under many names, or all words in each, must not shut out the others. */
const mostOfOne = 0.7
/** What the first request of a session has at most, of the many that are looked at for it. */
const atFirst = 10

type Among = { tools: readonly Definition[]; limit: number }

export async function discoverTools(intent: string, among: Among): Promise<Definition[]> {
  const found: FoundTool[][] = []
  for (const words of wishesOf(intent)) found.push(await search(words, among))
  return spread(takeNear(found), atFirst).slice(0, among.limit)
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
