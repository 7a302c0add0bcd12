// Which tools a first request offers: for requests that need tools, how many of the right ones; for coding prompts, how many
// needless ones. The numbers of `tool-fit.ts` were chosen on the even lines; the odd ones only judge them.
import { describeParameters } from "#ability/mcp/registry/create-catalog.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createToolDiscovery, type DiscoverableTool } from "#knowledge/index/tool-discovery.ts"
import { partsOf, takeNear } from "#knowledge/index/tool-fit.ts"
import { type Query, readLines, readQueries, readTools } from "./retrieval-sets.ts"

type Half = "chosen on" | "judged on"
/** `recall`: of the right tools, how many are offered, in percent; `firstTen`: how many the search has among its first ten. */
type Verdict = { recall: number; firstTen: number; offered: number; needless: number }
export type ServerTool = {
  server: string
  name: string
  description: string
  properties: Record<string, object>
}

export const offerSets = ["servers", "sealtools", "metatool"] as const
/** As in `choose-tools.ts`: the most candidates, and the most tools that are offered. */
const candidates = 50
const atFirst = 10

export async function judgeOffers(set: (typeof offerSets)[number], half: Half): Promise<Verdict> {
  const discovery = createToolDiscovery({ embedder: createEmbedder() })
  await discovery.register(set === "servers" ? serverTools().map(toTool) : readTools(set).map(toLocal))
  const search = (query: string) => discovery.search(query, { limit: candidates })
  const offersFor = async (query: string) => {
    const found = await Promise.all(partsOf(query).map(search))
    return takeNear(found).slice(0, atFirst).map(idOf)
  }
  const wanted = halfOf(readQueries(set).filter(isFor(set)), half)
  const count = { right: 0, firstTen: 0, gold: 0, offered: 0, needless: 0 }
  for (const { query, gold } of wanted) {
    const offered = await offersFor(query)
    const first = (await search(query)).slice(0, atFirst).map(({ tool }) => idOf(tool))
    count.gold += gold.length
    count.offered += offered.length
    count.right += offered.filter((id) => gold.includes(id)).length
    count.firstTen += first.filter((id) => gold.includes(id)).length
  }
  const coding = halfOf(
    readQueries("servers").filter(({ gold }) => !gold.length),
    half,
  )
  for (const { query } of coding) count.needless += (await offersFor(query)).length
  discovery.close()
  return {
    recall: (100 * count.right) / count.gold,
    firstTen: (100 * count.firstTen) / count.gold,
    offered: count.offered / wanted.length,
    needless: count.needless / coding.length,
  }
}

/** Tools of 49 servers, as `tools/list` would give them. */
export function serverTools(): ServerTool[] {
  return readLines<ServerTool>("servers.tools")
}

/** Seal-Tools: only the requests that need several tools; the others are easy. */
function isFor(set: string): (query: Query) => boolean {
  return ({ gold }) => gold.length > (set === "sealtools" ? 1 : 0)
}

function halfOf<T>(list: T[], half: Half): T[] {
  return list.filter((_, at) => at % 2 === (half === "chosen on" ? 0 : 1))
}

function toTool({ server, name, description, properties }: ServerTool): DiscoverableTool {
  const keywords = [describeParameters({ properties })]
  return { name, description, source: "mcp", provider: server, keywords }
}

function toLocal({ name, text, more = "" }: ReturnType<typeof readTools>[number]): DiscoverableTool {
  return { name, description: text, source: "local", keywords: [more] }
}

function idOf({ name, provider }: DiscoverableTool): string {
  return provider ? `${provider}/${name}` : name
}
