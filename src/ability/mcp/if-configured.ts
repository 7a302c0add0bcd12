// Access to the MCP servers of the current instance. If there is no server, the modules for MCP are not loaded.

import { join } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { installed, type Plugin } from "#kernel/plugin/plugins.ts"
import { isGuest } from "#kernel/process/guest.ts"
import { serverFiles } from "#kernel/reviewed/places.ts"
import { statOf } from "#util/file/path-info.ts"
import { isElsewhere, keepServersOf } from "./elsewhere.ts"
import type { Added } from "./load-servers.ts"

type Mcp = typeof import("./mcp.ts")

const state = Instance.state((): { servers: boolean; forSessions?: Mcp } => ({ servers: false }))
const none: ReadonlySet<string> = new Set()

/** The module `mcp.ts`; undefined as long as no server was configured or added. */
export async function ifConfigured(): Promise<Mcp | undefined> {
  if (isElsewhere()) return undefined
  const own = state()
  const { mcp } = await Config.get()
  own.servers ||= Boolean(mcp?.servers.length) || serverFiles.some(isThere) || installed().some(hasServers)
  return own.servers ? import("./mcp.ts") : undefined
}

function hasServers({ parts }: Plugin): boolean {
  return parts.mcp.length > 0
}

/** In a sandbox a folder stands where a file must not be created. */
function isThere(name: string): boolean {
  const stat = statOf(join(Instance.worktree, name))
  return stat !== undefined && !(stat.isDirectory() && isGuest())
}

/** Adds servers of skills in use to the configured ones. */
export async function addServers(added: readonly Added[]): Promise<void> {
  state().servers = true
  const Mcp = await import("./mcp.ts")
  Mcp.add(added)
}

/** Sets the servers that a client adds to one session; they replace earlier ones ([] = none). */
export async function setSessionServers(sessionId: string, servers: readonly Added[]): Promise<void> {
  keepServersOf(sessionId, servers)
  if (isElsewhere()) return
  const own = state()
  if (!servers.length && !own.forSessions) return
  const Mcp = await import("./mcp.ts")
  Object.assign(own, { servers: true, forSessions: Mcp })
  await Mcp.setSessionServers(sessionId, servers)
}

/** Ids of servers that a session must not see. */
export function hiddenFrom(ancestry: readonly string[]): ReadonlySet<string> {
  return state().forSessions?.hiddenFrom(ancestry) ?? none
}
