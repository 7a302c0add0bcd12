// Lists or searches the tools, resources and prompts that the servers of an instance offer, best match first. Servers are
// not trusted, so their texts are escaped and cut.
import { localId } from "#ability/mcp/registry/local-tools.ts"
import type { MCPPrompt, MCPResource, MCPTool } from "#ability/mcp/server/types.ts"
import { plainText } from "#util/plain-text.ts"
import { ifConfigured } from "./if-configured.ts"

type Named = {
  server: string
  name: string
  title?: string
  description?: string
  /** The score of a search result; higher is better. */
  score?: number
}
export type Offers = {
  tools: Named[]
  resources: (Named & { uri: string; mimeType?: string; size?: number })[]
  /** Empty in search results. */
  templates: (Named & { uriTemplate: string; mimeType?: string })[]
  prompts: (Named & { arguments: { name: string; description?: string; required: boolean }[] })[]
}
type Query = { server?: string | undefined; search?: string | undefined }

const maxText = 500
const mostFound = 10

/** Starts no server. Throws `MCP.NotFound` for one that does not exist. */
export async function findOffers({ server, search }: Query): Promise<Offers> {
  const Mcp = await ifConfigured()
  if (server !== undefined) await (Mcp ?? (await import("./mcp.ts"))).get(server)
  if (!Mcp) return { tools: [], resources: [], templates: [], prompts: [] }
  if (search !== undefined)
    return found(search, { limit: mostFound, ...(server === undefined ? {} : { serverId: server }) })
  const servers = (await Mcp.usable()).filter((one) => server === undefined || one.server.id === server)
  const all = <K extends "tools" | "resources" | "templates" | "prompts">(kind: K) =>
    servers.flatMap((one) => (one.manifest()?.[kind] ?? []).map((item) => [item, one.server.id] as const))
  return {
    tools: all("tools").map(([tool, id]) => shownTool(tool as MCPTool, id)),
    resources: all("resources").map(([resource, id]) => shownResource(resource as MCPResource, id)),
    templates: all("templates").map(([item, id]) => {
      const { uriTemplate, mimeType } = item as { uriTemplate: string; mimeType?: string }
      return { ...words(item, id), uriTemplate: plainText(uriTemplate, 2_000), ...typeOf({ mimeType }) }
    }),
    prompts: all("prompts").map(([prompt, id]) => shownPrompt(prompt as MCPPrompt, id)),
  }
}

async function found(query: string, options: { limit: number; serverId?: string }): Promise<Offers> {
  const { loadRegistry } = await import("./load-registry.ts")
  const matches = await (await loadRegistry()).discoverRelevant(query, options)
  const rest = <T extends { serverId: string }>(list: T[]) =>
    list.filter(({ serverId }) => serverId !== localId)
  return {
    tools: rest(matches.tools).map(({ tool, serverId, score }) => ({ ...shownTool(tool, serverId), score })),
    resources: matches.resources.map(({ resource, serverId, score }) => ({
      ...shownResource(resource, serverId),
      score,
    })),
    templates: [],
    prompts: matches.prompts.map(({ prompt, serverId, score }) => ({
      ...shownPrompt(prompt, serverId),
      score,
    })),
  }
}

function shownTool(tool: MCPTool, server: string) {
  return words(tool, server)
}

function shownResource(resource: MCPResource, server: string) {
  const { uri, size } = resource
  return {
    ...words(resource, server),
    uri: plainText(uri, 2_000),
    ...typeOf(resource),
    ...(size === undefined ? {} : { size }),
  }
}

function shownPrompt(prompt: MCPPrompt, server: string) {
  return {
    ...words(prompt, server),
    arguments: (prompt.arguments ?? []).map(({ name, description, required = false }) => ({
      name: plainText(name, maxText),
      ...(description === undefined ? {} : { description: plainText(description, maxText) }),
      required,
    })),
  }
}

function words(item: { name: string; title?: string; description?: string }, server: string) {
  const { name, title, description } = item
  return {
    server,
    name: plainText(name, maxText),
    ...(title === undefined ? {} : { title: plainText(title, maxText) }),
    ...(description === undefined ? {} : { description: plainText(description, maxText) }),
  }
}

function typeOf({ mimeType }: { mimeType?: string | undefined }) {
  return mimeType === undefined ? {} : { mimeType: plainText(mimeType, 100) }
}
