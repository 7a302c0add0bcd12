// Converts the MCP servers that a client sends with `session/new` or `session/load` into configuration entries.
import { homedir } from "node:os"
import { parse } from "node:path"
import type { McpServer } from "@agentclientprotocol/sdk"
import type { Added } from "#ability/mcp/load-servers.ts"
import { idsOf } from "#ability/mcp/server-ids.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import type { McpServer as ServerConfig } from "#kernel/schema/schema.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { statOf } from "#util/file/path-info.ts"

/** Must be called inside the instance of the session's folder. In an untrusted folder the servers start in the home
 * folder: npx and similar programs run code that they find in the folder they start in. `given`: servers that every
 * session has, unless the client sends one with the same id. */
export async function clientServers(
  servers: readonly McpServer[],
  { method, given = [] }: { method: string; given?: readonly ServerConfig[] | undefined },
): Promise<Added[]> {
  if (!servers.length && !given.length) return []
  const folder = (await Trust.check(Instance.worktree)) ? Instance.directory : homeFolder()
  const shared = { folder, isOwn: true, isLiteral: true }
  const ids = idsOf(servers.map(({ name }) => name))
  const sent = servers.map((server) => ({
    ...shared,
    id: ids.get(server.name)!,
    entry: entryOf(server),
    source: `ACP ${method}`,
  }))
  const own = given.map((entry) => ({ ...shared, id: entry.id, entry, source: "the ACP adapter" }))
  const isReplaced = ({ id }: Added) => sent.some((server) => server.id === id)
  for (const { id } of own.filter(isReplaced))
    Log.warn(`MCP server ${id} of the ACP adapter is replaced by the one of ACP ${method}`)
  return [...own.filter((server) => !isReplaced(server)), ...sent]
}

function homeFolder(): string {
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
