// The registry of the current instance: every tool that can be called, and the known resources and prompts of its servers.
// No server is started for it. Its index is a file, so that only changes are indexed.
import { createHash } from "node:crypto"
import { dirname, join } from "node:path"
import { createMCPRegistry, type MCPRegistry } from "#ability/mcp/registry/create-registry.ts"
import { toMCPTool } from "#ability/mcp/registry/local-tools.ts"
import { getEmbedder } from "#ability/provider/get-embedder.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { noteIndexUse } from "#knowledge/index/note-index-use.ts"
import { pruneIndexes } from "#knowledge/index/prune-indexes.ts"
import { ifConfigured } from "./if-configured.ts"
import type { Manifest } from "./manifest.ts"

export type { MCPRegistry, ToolMatch } from "#ability/mcp/registry/create-registry.ts"
export { placeOf } from "#ability/mcp/registry/local-tools.ts"

/** The offers of one server. Tools may also come from a server that has no manifest. */
type Offers = { tools: Definition[]; manifest?: Manifest | undefined }
type Own = {
  registry?: MCPRegistry
  embedder?: Embedder | undefined
  path?: string
  taken: Map<string, Offers>
  work: Promise<unknown>
}

const own = Instance.state<Own>(
  () => ({ taken: new Map(), work: Promise.resolve() }),
  async ({ registry, path }) => {
    await registry?.close()
    // Done last, when nobody waits for an answer.
    if (path) pruneIndexes(dirname(path))
  },
)

/** Updates run one after the other, so that no task searches a registry that another one is still updating. */
export function loadRegistry(): Promise<MCPRegistry> {
  const state = own()
  const loaded = state.work.then(update)
  state.work = loaded.catch(() => undefined)
  return loaded
}

async function update(): Promise<MCPRegistry> {
  const offers = await listOffers()
  const registry = await withEmbedder(await getEmbedder())
  const { taken } = own()
  for (const [id, before] of taken)
    if (!isSame(before, offers.get(id))) {
      taken.delete(id)
      await registry.servers.remove(id)
    }
  for (const [id, { tools, manifest }] of offers) {
    if (taken.has(id)) continue
    taken.set(id, { tools, manifest })
    for (const tool of tools) await registry.tools.register(toMCPTool(tool), id)
    for (const resource of manifest?.resources ?? []) await registry.resources.register(resource, id)
    for (const prompt of manifest?.prompts ?? []) await registry.prompts.register(prompt, id)
  }
  return registry
}

async function listOffers(): Promise<Map<string, Offers>> {
  const servers = (await (await ifConfigured())?.usable()) ?? []
  const offers = new Map<string, Offers>(
    servers.map((one) => [one.server.id, { tools: [], manifest: one.manifest() }]),
  )
  for (const tool of ToolRegistry.list()) {
    if (tool.server === undefined) continue
    const known = offers.get(tool.server)
    if (known) known.tools.push(tool)
    else offers.set(tool.server, { tools: [tool] })
  }
  return offers
}

function isSame(one: Offers, other: Offers | undefined): boolean {
  if (one.manifest !== other?.manifest || one.tools.length !== other?.tools.length) return false
  return one.tools.every((tool, i) => tool === other.tools[i])
}

/** After a change of the configuration there may be another embedder, which needs another index. */
async function withEmbedder(embedder: Embedder | undefined): Promise<MCPRegistry> {
  const state = own()
  if (state.registry && state.embedder === embedder) return state.registry
  const before = state.registry
  const path = indexFile()
  const registry = createMCPRegistry({ index: { path, embedder } })
  noteIndexUse(path, Instance.worktree)
  Object.assign(state, { registry, embedder, path, taken: new Map() })
  await before?.close()
  return registry
}

function indexFile(): string {
  const name = createHash("sha256").update(Instance.worktree).digest("hex").slice(0, 40)
  return join(Global.cache(), "discovery", `tools-${name}.db`)
}
