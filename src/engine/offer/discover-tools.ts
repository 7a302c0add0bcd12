// Finds the tools for a prompt, the best first. If nothing fits, it returns nothing rather than the nearest tool,
// which would be sent with every request.
import { type FoundTool, searchTools } from "#ability/mcp/search-tools.ts"
import type { Definition } from "#ability/tool/tool.ts"
import { partsOf, takeNear } from "#knowledge/index/tool-fit.ts"

/** The largest share for one server: a server with many similar tools must not displace the others. */
const mostOfOne = 0.7
/** How many of the returned tools the first request of a session takes. The share of a server is a share of these. */
const atFirst = 10

type Among = { tools: readonly Definition[]; limit: number }

export async function discoverTools(intent: string, among: Among): Promise<Definition[]> {
  const found: FoundTool[][] = []
  for (const words of partsOf(intent)) found.push(await search(words, among))
  return spread(takeNear(found), atFirst).slice(0, among.limit)
}

/** For a search by the model: returns up to `limit` tools for which `isNear` is true, and not nearly all from one
 * server. */
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

/** If one server has all the best places, also take the best of the others. */
async function search(words: string, among: Among): Promise<FoundTool[]> {
  const found = await searchTools(words, among)
  const [first] = found
  if (found.length < among.limit || found.some(({ tool }) => tool.server !== first?.tool.server)) return found
  const others = among.tools.filter(({ server }) => server !== first?.tool.server)
  return [...found, ...(await searchTools(words, { ...among, tools: others }))]
}

/** Results of a server beyond its share come after those of the others. */
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
