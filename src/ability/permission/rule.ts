// Rules: their schema, their form on one line, the known permissions, and the built-in rule sets.
import { permissions, Rule } from "#kernel/schema/schema.ts"
import { NamedError } from "#util/error.ts"
import { fitsText } from "#util/wildcard.ts"

export { Rule }
export type Action = Rule["action"]
/** What only rules of grants have: the fingerprint of an MCP tool; whether a person wrote the rule instead of taking the
 * one that was shown. */
export type Meant = { fingerprint?: string | undefined; written?: true | undefined }
/** The rules of one source. The source decides which rules they can override. */
export type Layer = { source: string; rules: readonly (Rule & Meant)[] }

export class InvalidRule extends NamedError {
  constructor(rule: string, reason: string) {
    super("Permission.InvalidRule", `Rule ${rule} cannot be used: ${reason}`, { rule })
  }
}

/** Reading in the workspace and the task list are allowed, showing a secret to the model is denied; everything else asks. */
export const defaults: readonly Rule[] = [
  { permission: "file.read", pattern: "**", action: "allow" },
  { permission: "todo", pattern: "*", action: "allow" },
  { permission: "secret.show", pattern: "*", action: "deny" },
]

/** Reading, planning and delegating stay allowed; everything that changes something is denied. In plan mode, git commands
 * that only read are not (shell/judge-command.ts). */
export const planner: readonly Rule[] = [
  { permission: "file.write", pattern: "*", action: "deny" },
  { permission: "file.edit", pattern: "*", action: "deny" },
  { permission: "bash.execute", pattern: "*", action: "deny" },
  { permission: "mcp.call", pattern: "*", action: "deny" },
  { permission: "agent.remote", pattern: "*", action: "deny" },
  { permission: "secret.use", pattern: "*", action: "deny" },
  { permission: "tool.execute", pattern: "*", action: "deny" },
  { permission: "memory.write", pattern: "*", action: "deny" },
  { permission: "knowledge.write", pattern: "*", action: "deny" },
]

/** With a sandbox around the agent: edits, commands and tools in it need no question. What would leave it does: the
 * network, paths outside of the workspace, files that decide what runs. */
export const sandboxed: readonly Rule[] = [
  { permission: "file.write", pattern: "**", action: "allow" },
  { permission: "file.edit", pattern: "**", action: "allow" },
  { permission: "bash.execute", pattern: "*", action: "allow" },
  { permission: "tool.execute", pattern: "*", action: "allow" },
  { permission: "mcp.call", pattern: "*", action: "allow" },
  { permission: "agent.delegate", pattern: "*", action: "allow" },
]

/** Asked for once in a session: one yes counts until its end. */
const oncePerSession = new Set(["memory.write", "knowledge.write"])

export function isOncePerSession(needs: readonly { permission: string }[]): boolean {
  return needs.length > 0 && needs.every(({ permission }) => oncePerSession.has(permission))
}

/** `permission[:pattern]`, as on the command line. The default pattern is everything, for files everything in the
 * workspace. The pattern is not trimmed: `file.write:a ` means another file than `file.write:a`. */
export function parseRule(text: string, action: Action = "allow"): Rule {
  const colon = text.indexOf(":")
  const permission = (colon < 0 ? text : text.slice(0, colon)).trim()
  const pattern = colon < 0 ? (isFile(permission) ? "**" : "*") : text.slice(colon + 1)
  const rule = { permission, pattern, action }
  checkRule(rule, JSON.stringify(text))
  if (hasLooseBlank(rule))
    throw new InvalidRule(
      JSON.stringify(text),
      "there is a blank before or after its pattern, so it would match nothing",
    )
  return rule
}

/** The inverse of `parseRule`. */
export function formatRule({ permission, pattern }: Pick<Rule, "permission" | "pattern">): string {
  return `${permission}:${pattern}`
}

/** Throws for an invalid rule. If it were ignored, what it denies would be allowed. */
export function checkLayer({ source, rules }: Layer): void {
  for (const rule of rules) checkRule(rule, `${JSON.stringify(rule)} (${source})`)
}

/** Whether the rule has a valid pattern and action. */
export function isWhole(rule: Partial<Rule>): rule is Rule {
  return typeof rule.pattern === "string" && rule.pattern !== "" && isAction(rule.action)
}

export function covers(rule: Partial<Rule>, permission: string): boolean {
  return typeof rule.permission !== "string" || fitsText(rule.permission, permission)
}

export function isKnown(permission: string): boolean {
  return (permissions as readonly string[]).includes(permission)
}

export function isFile(permission: string): boolean {
  return permission.startsWith("file.")
}

function checkRule(rule: Rule, shown: string): void {
  const { error } = Rule.safeParse(rule)
  if (error) throw new InvalidRule(shown, error.issues.map(({ message }) => message).join("; "))
}

/** A file name may end with a blank. One that begins with a blank must be written with "./". */
function hasLooseBlank({ permission, pattern }: Rule): boolean {
  return /^\s/.test(pattern) || (!isFile(permission) && /\s$/.test(pattern)) || pattern.trim() === ""
}

function isAction(action: unknown): action is Action {
  return action === "allow" || action === "deny" || action === "ask"
}
