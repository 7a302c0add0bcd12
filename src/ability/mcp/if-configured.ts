// Access to the MCP servers of the current instance for callers that can do without: if no server is configured,
// nothing is loaded and nothing is read.

import { join } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { serverFiles } from "#kernel/reviewed/places.ts"
import { statOf } from "#util/file/path-info.ts"
import type { Added } from "./load-servers.ts"

type Mcp = typeof import("./mcp.ts")

const met = Instance.state((): { servers: boolean; brought?: Mcp } => ({ servers: false }))
const none: ReadonlySet<string> = new Set()

/** The module `mcp.ts`; undefined as long as there has been no server. */
export async function ifConfigured(): Promise<Mcp | undefined> {
  const own = met()
  const { mcp } = await Config.get()
  own.servers ||=
    Boolean(mcp?.servers.length) || serverFiles.some((name) => statOf(join(Instance.worktree, name)))
  return own.servers ? import("./mcp.ts") : undefined
}

/** Adds servers of skills in use to the configured ones. */
export async function addServers(added: readonly Added[]): Promise<void> {
  met().servers = true
  const Mcp = await import("./mcp.ts")
  Mcp.add(added)
}

/** Sets the servers that a client brings with one session, replacing earlier ones ([] = none). */
export async function bringServers(sessionId: string, servers: readonly Added[]): Promise<void> {
  const own = met()
  if (!servers.length && !own.brought) return
  const Mcp = await import("./mcp.ts")
  Object.assign(own, { servers: true, brought: Mcp })
  await Mcp.bring(sessionId, servers)
}

/** The servers that are visible only to sessions other than this one and its parents. */
export function hiddenFrom(line: readonly string[]): ReadonlySet<string> {
  return met().brought?.hiddenFrom(line) ?? none
}
