// Which tools a client is offered: those that the rules allow for at least one target. Each call is judged again with its
// real target. Tools that need a permission are offered if a person can be asked; denied tools never are.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import { covers } from "#ability/permission/rule.ts"
import { mayUse, permissionOf } from "#ability/tool/may-use.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Config from "#kernel/config/config.ts"

/** A permission that a tool needs, and its target if that is known without arguments. */
type Probe = Pick<Permission.Need, "permission" | "fingerprint"> & { target?: string }

/** Tools that are not offered: `run` is the server's own, and it replaces `subtask`. */
const replaced = new Set(["run", "subtask"])

export async function offeredTools(options: {
  agent: AgentDefinition
  rules: readonly Permission.Rule[]
  canAsk: boolean
}): Promise<Definition[]> {
  const { agent, canAsk } = options
  const layers = await layersFor(options)
  return ToolRegistry.list().filter((tool) => {
    if (replaced.has(tool.id) || !mayUse(agent, tool)) return false
    const action = judge(tool, layers)
    return action === "allow" || (action === "ask" && canAsk)
  })
}

/** `run` is offered unless it is denied: the calls of its session are judged on their own. */
export async function offersRun(options: {
  agent: AgentDefinition
  rules: readonly Permission.Rule[]
}): Promise<boolean> {
  const need = { permission: "tool.execute", target: "run" }
  return Permission.evaluate(need, ...(await layersFor(options))).action !== "deny"
}

/** The layers of rules, in the order that a session uses. */
async function layersFor(options: {
  agent: AgentDefinition
  rules: readonly Permission.Rule[]
}): Promise<Permission.Layer[]> {
  const { agent, rules } = options
  return [
    { source: "default", rules: Permission.defaults },
    { source: "agent", rules: agent.permissions },
    ...(await Config.rules()),
    { source: "grant", rules: Grant.rulesOf(await Grant.list(), { agent: agent.id, sessionId: "" }) },
    { source: "session", rules },
  ]
}

function judge(tool: Definition, layers: Permission.Layer[]): Permission.Action {
  const actions = probesOf(tool).map((probe) => mostPermissive(probe, layers))
  if (actions.includes("deny")) return "deny"
  return actions.includes("ask") ? "ask" : "allow"
}

function probesOf(tool: Definition): Probe[] {
  const permission = permissionOf(tool)
  if (permission === "tool.execute") return [{ permission, target: tool.id }]
  if (permission === "mcp.call") return tool.permission!({})
  if (permission !== undefined) return [{ permission }]
  try {
    return (tool.permission?.({}) ?? []).map(({ permission }) => ({ permission }))
  } catch {
    // Some tools need their arguments to name their permissions; the gate then judges each call.
    return []
  }
}

/** The most permissive action over examples of all patterns in the rules, and a target that no rule names. */
function mostPermissive(
  { permission, target, fingerprint }: Probe,
  layers: Permission.Layer[],
): Permission.Action {
  const rules = layers.flatMap((layer) => layer.rules).filter((rule) => covers(rule, permission))
  const targets = target === undefined ? ["x", ...rules.map(({ pattern }) => exampleOf(pattern))] : [target]
  const needs = targets.map((target) => ({ permission, target, fingerprint }))
  const actions = needs.map((need) => Permission.evaluate(need, ...layers).action)
  if (actions.includes("allow")) return "allow"
  return actions.includes("ask") ? "ask" : "deny"
}

/** A target that a pattern matches. */
function exampleOf(pattern: string): string {
  return pattern.replaceAll(/\*+/g, "x").replace(/\/$/, "/x")
}
