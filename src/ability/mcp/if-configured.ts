// The way to the MCP servers of the current instance for all who can do without: where no server is configured, nothing is
// loaded and nothing is read.
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import type { Added } from "./load-servers.ts"
import { stampOf } from "./server-files.ts"

const met = Instance.state(() => ({ servers: false }))

/** What knows the servers; undefined where there have never been any. */
export async function ifConfigured(): Promise<typeof import("./mcp.ts") | undefined> {
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
