// The way to the MCP servers of the current instance for all who can do without: where no server is configured, nothing is
// loaded and nothing is read.

import type { Added } from "#ability/mcp/configured/load-servers.ts"
import { stampOf } from "#ability/mcp/configured/server-files.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"

type Mcp = typeof import("./mcp.ts")

const met = Instance.state((): { servers: boolean; brought?: Mcp } => ({ servers: false }))
const none: ReadonlySet<string> = new Set()

/** What knows the servers; undefined where there have never been any. */
export async function ifConfigured(): Promise<Mcp | undefined> {
  const own = met()
  const { mcp } = await Config.get()
  own.servers ||= Boolean(mcp?.servers.length || stampOf(Instance.worktree))
  return own.servers ? import("./mcp.ts") : undefined
}

/** Have servers beside the configured ones, for what is in use. */
export async function addServers(added: readonly Added[]): Promise<void> {
  met().servers = true
  const Mcp = await import("./mcp.ts")
  Mcp.add(added)
}

/** The servers that a client brings with one session, in the place of those that it brought before ([] = none any more). */
export async function bringServers(sessionId: string, servers: readonly Added[]): Promise<void> {
  const own = met()
  if (!servers.length && !own.brought) return
  const Mcp = await import("./mcp.ts")
  Object.assign(own, { servers: true, brought: Mcp })
  await Mcp.bring(sessionId, servers)
}

/** The servers that are there for other sessions only than this one, which is followed by those that it does a task for. */
export function hiddenFrom(line: readonly string[]): ReadonlySet<string> {
  return met().brought?.hiddenFrom(line) ?? none
}
