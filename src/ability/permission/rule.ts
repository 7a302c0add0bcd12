// Rules: what they may say, how they are written on one line, and which permissions there are.
import { permissions, Rule } from "#kernel/schema/schema.ts"
import { NamedError } from "#util/error.ts"
import { fitsText } from "#util/wildcard.ts"

export { Rule }
export type Action = Rule["action"]
/** Which tool of a server is meant, by what it says of itself. Of rules, only those of grants have it. */
export type Meant = { fingerprint?: string | undefined }
/** Rules of one source. Where the source stands among the others decides what it may lift. */
export type Layer = { source: string; rules: readonly (Rule & Meant)[] }

export class InvalidRule extends NamedError {
  constructor(rule: string, reason: string) {
    super("Permission.InvalidRule", `Rule ${rule} cannot be used: ${reason}`, { rule })
  }
}

/** `permission[:pattern]`, as on the command line. Without a pattern everything is meant, of files all in the workspace.
 * Of the pattern nothing is taken off: `file.write:a ` is for another file than `file.write:a`. */
export function parseRule(text: string, action: Action = "allow"): Rule {
  const colon = text.indexOf(":")
  const permission = (colon < 0 ? text : text.slice(0, colon)).trim()
  const pattern = colon < 0 ? (isFile(permission) ? "**" : "*") : text.slice(colon + 1)
  const rule = { permission, pattern, action }
  checkRule(rule, JSON.stringify(text))
  if (hasLooseBlank(rule))
    throw new InvalidRule(
      JSON.stringify(text),
      "there is a blank before or after its pattern, so that it would fit nothing",
    )
  return rule
}

/** How `parseRule` takes it. */
export function formatRule({ permission, pattern }: Pick<Rule, "permission" | "pattern">): string {
  return `${permission}:${pattern}`
}

/** What cannot be meant is an error that names it: a rule that silently never fits would leave open what it should close. */
export function checkLayer({ source, rules }: Layer): void {
  for (const rule of rules) checkRule(rule, `${JSON.stringify(rule)} (${source})`)
}

/** Whether `evaluate` can use it at all. */
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

/** A file may be named so at its end; at its beginning "./" is written before it. */
function hasLooseBlank({ permission, pattern }: Rule): boolean {
  return /^\s/.test(pattern) || (!isFile(permission) && /\s$/.test(pattern)) || pattern.trim() === ""
}

function isAction(action: unknown): action is Action {
  return action === "allow" || action === "deny" || action === "ask"
}
