// Which tools an agent may use at all: those it names (all usual ones where it names none), without those that its own
// rules deny whatever they are used on.
// What is denied only here and there is decided call by call.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { covers } from "#ability/permission/rule.ts"
import type { Definition } from "#ability/tool/define/types.ts"

/** The permission behind each built-in tool; what a call needs exactly is known only with its arguments. */
const permissions: Record<string, string> = {
  read: "file.read",
  glob: "file.read",
  grep: "file.read",
  ls: "file.read",
  symbols: "file.read",
  recall: "file.read",
  write: "file.write",
  edit: "file.edit",
  bash: "bash.execute",
  fetch: "network.fetch",
  subtask: "agent.delegate",
  todo: "todo",
}

export function mayUse(agent: AgentDefinition, tool: Definition): boolean {
  if (agent.tools ? !agent.tools.includes(tool.id) : tool.onlyNamed) return false
  const permission = permissionOf(tool)
  return permission === undefined || !isDenied(agent, permission)
}

/** The one that its calls need, as far as that is known without their arguments. */
export function permissionOf(tool: Definition): string | undefined {
  if (tool.server !== undefined) return "mcp.call"
  if (Object.hasOwn(permissions, tool.id)) return permissions[tool.id]
  return tool.permission || tool.readOnly ? undefined : "tool.execute"
}

/** The last word counts: an exception after a denial leaves something to use the tool on. */
function isDenied({ permissions: rules }: AgentDefinition, permission: string): boolean {
  let denied = false
  for (const rule of rules)
    if (!covers(rule, permission)) continue
    else if (rule.action !== "deny") denied = false
    else if (/^\*{1,2}$/.test(rule.pattern)) denied = true
  return denied
}
