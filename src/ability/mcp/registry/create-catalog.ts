// Search over the offers of servers. Tools have an index of their own, because there can be thousands of them; resources and
// prompts share another one.
import type { MCPPrompt, MCPResource, MCPTool } from "#ability/mcp/server/types.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createItemIndex, type ItemMatch, type Why } from "#knowledge/index/create-item-index.ts"
import {
  createToolDiscovery,
  type DiscoverableTool,
  type ToolSource,
} from "#knowledge/index/tool-discovery.ts"
import type { Document } from "#knowledge/index/types.ts"
import { localId } from "./local-tools.ts"

export type { Why }
export type Kinds = { tool: MCPTool; resource: MCPResource; prompt: MCPPrompt }
export type Kind = keyof Kinds
export type SearchOptions = { limit?: number; serverId?: string }
export type CatalogConfig = {
  /** The database file of the tools. That of resources and prompts is beside it. Default: in memory. */
  path?: string
  /** Default: the embedded model; without any embedder, search is by words only. */
  embedder?: Embedder | undefined
}
export type Match<K extends Kind> = { item: Kinds[K]; serverId: string; score: number } & Why
export type Catalog = Readonly<{
  /** It enters the index with the next search. */
  put<K extends Kind>(kind: K, item: Kinds[K], serverId: string): Promise<void>
  search<K extends Kind>(kind: K, query: string, options?: SearchOptions): Promise<Match<K>[]>
  /** The best of every kind. */
  searchAll(query: string, options?: SearchOptions): Promise<{ [K in Kind]: Match<K>[] }>
  removeServer(serverId: string): void
  close(): void
}>
type ServerTool = DiscoverableTool & { provider: string; tool: MCPTool }
type Scored = { score: number } & Why
type Offer = { kind: Kind; item: MCPResource | MCPPrompt; serverId: string }

type Node = Record<string, unknown>

const maxText = 4_000
const maxDepth = 3

const usualLimit = 10
/** Matches below this share of the best score are dropped. */
const least = 0.4

export function createCatalog({ path, ...rest }: CatalogConfig = {}): Catalog {
  const { embedder } = { embedder: createEmbedder(), ...rest }
  const tools = createToolDiscovery<ServerTool>({ dbPath: path, isLazy: true, embedder })
  const offers = createItemIndex(documentOf, { path: path && `${path}-offers`, embedder })

  async function put<K extends Kind>(kind: K, item: Kinds[K], serverId: string): Promise<void> {
    if (kind === "tool") await tools.register([toServerTool(item as MCPTool, serverId)])
    else offers.put({ kind, item: item as Offer["item"], serverId })
  }

  function removeServer(serverId: string): void {
    tools.unregisterProvider(sourceOf(serverId), serverId)
    offers.remove((offer) => offer.serverId === serverId)
  }

  async function search<K extends Kind>(kind: K, query: string, options: SearchOptions = {}) {
    if (kind === "tool") return (await searchTools(query, options)) as Match<K>[]
    const { limit, serverId: group } = options
    const accepts = (offer: Offer) => offer.kind === kind
    return ofKind(kind, await offers.search(query, { limit, group, accepts }))
  }

  async function searchTools(query: string, { serverId, ...rest }: SearchOptions): Promise<Match<"tool">[]> {
    const of = serverId === undefined ? {} : { source: sourceOf(serverId), provider: serverId }
    const found = await tools.search(query, { ...rest, ...of })
    return found.map(({ tool: { tool, provider }, ...why }) => ({ item: tool, serverId: provider, ...why }))
  }

  async function searchAll(query: string, options: SearchOptions = {}) {
    const { limit = usualLimit, serverId: group } = options
    const [foundTools, foundOffers] = await Promise.all([
      searchTools(query, options),
      // All matches: those of one kind may all rank behind those of the other.
      offers.search(query, { limit: offers.items().length, group }),
    ])
    const [tool, near] = leaveOutFar(foundTools, foundOffers)
    const best = <K extends Kind>(kind: K) => ofKind(kind, near).slice(0, limit)
    return { tool, resource: best("resource"), prompt: best("prompt") }
  }

  function close(): void {
    tools.close()
    offers.close()
  }

  return Object.freeze({ put, search, searchAll, removeServer, close })
}

function ofKind<K extends Kind>(kind: K, found: ItemMatch<Offer>[]): Match<K>[] {
  return found.flatMap(({ item: offer, ...why }) => {
    const { item, serverId } = offer
    return offer.kind === kind ? [{ item, serverId, ...why } as Match<K>] : []
  })
}

/** Drops matches far below the best one. Scores by vectors are comparable across indexes; scores by words alone are not. */
function leaveOutFar<A extends Scored, B extends Scored>(one: A[], other: B[]): [A[], B[]] {
  const best = (found: Scored[]) => found[0]?.score ?? 0
  const bestOfAll = Math.max(best(one), best(other))
  const isOneScale = [...one, ...other].some(({ vector }) => vector)
  const near = <T extends Scored>(found: T[]) => {
    const enough = least * (isOneScale ? bestOfAll : best(found))
    return found.filter(({ score }) => score >= enough)
  }
  return [near(one), near(other)]
}

function sourceOf(serverId: string): ToolSource {
  return serverId === localId ? "local" : "mcp"
}

function toServerTool(tool: MCPTool, serverId: string): ServerTool {
  const { name, inputSchema } = tool
  const keywords = [describeParameters(inputSchema)]
  return { name, description: textOf(tool), source: sourceOf(serverId), provider: serverId, keywords, tool }
}

function documentOf({ kind, item, serverId }: Offer): Document {
  const { name } = item
  const id = JSON.stringify([kind, serverId, "uri" in item ? item.uri : name])
  return { id, group: serverId, name, text: textOf(item), more: moreOf(item) }
}

function textOf({ title, description }: Kinds[Kind]): string {
  return [title, description].filter(Boolean).join("\n")
}

function moreOf(item: Offer["item"]): string {
  if ("uri" in item) return item.uri
  return (item.arguments ?? []).map(({ name, description = "" }) => `${name} ${description}`).join("\n")
}

/** The parameters of a tool as text for the search: names, descriptions and allowed values. */
export function describeParameters(schema: unknown): string {
  const words: string[] = []
  walk(schema, { words, depth: 0 })
  return words.join("\n").slice(0, maxText)
}

function walk(schema: unknown, { words, depth }: { words: string[]; depth: number }): void {
  if (!isNode(schema) || depth > maxDepth) return
  for (const [name, value] of Object.entries(isNode(schema.properties) ? schema.properties : {})) {
    if (!isNode(value)) continue
    words.push(
      [name, value.description, ...valuesOf(value)].filter((word) => typeof word === "string").join(" "),
    )
    walk(value, { words, depth: depth + 1 })
  }
  walk(schema.items, { words, depth: depth + 1 })
}

/** The allowed values of a parameter, of its list entries, and of its alternatives. */
function valuesOf(schema: Node): unknown[] {
  const forms = [schema, schema.items, ...listOf(schema.anyOf), ...listOf(schema.oneOf)].filter(isNode)
  return forms.flatMap((form) => [...listOf(form.enum), form.const])
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
