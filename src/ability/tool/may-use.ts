// Decides which tools an agent may use at all: those that it names (default: all usual ones), except those that its rules
// deny for every target. A rule that denies only some targets is applied to each call.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { definitionToSpec, partitionTools } from "#ability/agent/specialists.ts"
import type { Definition } from "#ability/call/types.ts"
import { covers } from "#ability/permission/rule.ts"
import { serverToolId } from "./server-tools.ts"

/** The permission of each built-in tool; the exact need of a call depends on its arguments. */
const permissions: Record<string, string> = {
  read: "file.read",
  glob: "file.read",
  grep: "file.read",
  ls: "file.read",
  symbols: "file.read",
  recall: "file.read",
  diagnostics: "file.read",
  definition: "file.read",
  references: "file.read",
  write: "file.write",
  edit: "file.edit",
  rename: "file.edit",
  bash: "bash.execute",
  script: "bash.execute",
  fetch: "network.fetch",
  browser_open: "network.fetch",
  browser_read: "network.fetch",
  browser_click: "network.fetch",
  browser_type: "network.fetch",
  browser_screenshot: "network.fetch",
  browser_wait: "network.fetch",
  world_run: "tool.execute",
  world_analyze: "file.read",
  subtask: "agent.delegate",
  delegate: "agent.delegate",
  todo: "todo",
  rag_search: "file.read",
  graph_search: "file.read",
  graph_show: "file.read",
  rag_add: "knowledge.write",
  rag_remove: "knowledge.write",
  save_knowledge: "knowledge.write",
  memory_save: "memory.write",
  memory_forget: "memory.write",
  memory_export: "file.write",
  observe_note: "memory.write",
  secrets_set: "secret.use",
  secrets_list: "secret.use",
  secrets_use: "secret.use",
  secrets_remove: "secret.use",
  crypto_encrypt: "secret.use",
  crypto_decrypt: "secret.use",
  crypto_sign: "secret.use",
}

/** Tools that a second specialist uses too, by the routing names that they have for it: what a search finds must be read in
 * its place. They still belong to the first one. */
const lent: Record<string, string> = { read: "search_read" }

export function mayUse(agent: AgentDefinition, tool: Definition): boolean {
  if (!isGiven(agent, tool)) return false
  const permission = permissionOf(tool)
  return permission === undefined || !isDenied(agent, permission)
}

/** A specialist that names no tools has those that the partition gives it, and those that are lent to it. */
function isGiven(agent: AgentDefinition, tool: Definition): boolean {
  if (agent.tools) return agent.tools.some((name) => isNamed(name, tool))
  const own = definitionToSpec(agent)
  if (!own) return !tool.onlyNamed
  const specs = AgentRegistry.specs()
  const isListed = specs.some(({ name }) => name === agent.id)
  const names = [
    tool,
    ...(Object.hasOwn(lent, tool.id) ? [{ id: tool.id, routingName: lent[tool.id]! }] : []),
  ]
  return partitionTools(names, isListed ? specs : [own]).byAgent[agent.id]!.length > 0
}

/** Agent files of Claude Code name `mcp__server__tool`, or `mcp__server` or `mcp__server__*` for all tools of a server.
 * Both names may contain two underscores, so the name of the tool's server is compared first. */
export function isNamed(name: string, { id, server }: Definition): boolean {
  if (name === id || server === undefined) return name === id
  const start = `mcp__${server}__`
  if (name === `mcp__${server}`) return true
  if (name.endsWith("__*")) return name === `${start}*`
  return name.startsWith(start) && serverToolId(server, name.slice(start.length)) === id
}

/** The permission that calls of a tool need; undefined if that depends on the arguments, or if none is needed. */
export function permissionOf(tool: Definition): string | undefined {
  if (tool.server !== undefined) return "mcp.call"
  if (Object.hasOwn(permissions, tool.id)) return permissions[tool.id]
  return tool.permission || tool.readOnly ? undefined : "tool.execute"
}

/** Whether the rules deny a permission for every target. The last rule wins: if an exception follows, the tool is still
 * useful. */
function isDenied({ permissions: rules }: AgentDefinition, permission: string): boolean {
  let denied = false
  for (const rule of rules)
    if (!covers(rule, permission)) continue
    else if (rule.action !== "deny") denied = false
    else if (/^\*{1,2}$/.test(rule.pattern)) denied = true
  return denied
}
