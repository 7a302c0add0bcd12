// The MCP servers that a client brings with a session, in the form of those that are configured.
import { homedir } from "node:os"
import { parse } from "node:path"
import type { McpServer } from "@agentclientprotocol/sdk"
import type { Added } from "#ability/mcp/load-servers.ts"
import { idsOf } from "#ability/mcp/server-ids.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { statOf } from "#util/file/path-info.ts"

/** To be called inside the instance of the session's folder. */
export async function broughtServers(servers: readonly McpServer[], method: string): Promise<Added[]> {
  if (!servers.length) return []
  const folder = (await Trust.check(Instance.worktree)) ? Instance.directory : ownFolder()
  const ids = idsOf(servers.map(({ name }) => name))
  return servers.map((server) => ({
    id: ids.get(server.name)!,
    entry: entryOf(server),
    source: `ACP ${method}`,
    folder,
    isOwn: true,
    isLiteral: true,
  }))
}

/** npx and its like look for programs in the folder that they start in. */
function ownFolder(): string {
  const home = homedir()
  return statOf(home)?.isDirectory() ? home : parse(home).root
}

function entryOf(server: McpServer): object {
  if (!("type" in server)) {
    const { name, command, args, env } = server
    return { name, transport: "stdio", command: [command, ...args], env: pairs(env) }
  }
  const { type, name, url, headers } = server
  return { name, transport: type, url, headers: pairs(headers) }
}

function pairs(list: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}
