// Evaluates the rules for one need. The last matching rule wins, with two exceptions: an agent or a project cannot
// override a person's denial, and a grant overrides no denial. These functions are pure.
import { posix } from "node:path"
import { Instance } from "#kernel/instance.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { fitsPath, fitsText, hasWildcard, type Path, readPath } from "#util/wildcard.ts"
import { readTexts, writtenCommands } from "./exact-command.ts"
import { mentionsOwnConfiguration } from "./own-configuration.ts"
import { isOwnConfiguration } from "./protected-paths.ts"
import { type Action, covers, isFile, isKnown, isWhole, type Layer, type Meant, type Rule } from "./rule.ts"
import { mentionsSecrets, namesSecrets } from "./secret-places.ts"
import { type AskedPart, judgeCommand } from "./shell/judge-command.ts"
import { noPlace, type Place } from "./shell/outside-targets.ts"

export type Need = {
  permission: string
  target: string
  /** The folder in which a shell command starts. */
  cwd?: string
} & Meant
export type Decision = {
  action: Action
  rule?: Rule & Meant
  source?: string
  /** It would change what runs, or it goes through a link out of the workspace. Only a person, or a rule that names it,
   * can allow it. */
  protected?: true
  /** It would reach our own keys and tokens. Only a rule that names them can allow it, neither a reply nor `--yes`. */
  secret?: true
  /** It would run a file from the assets of a skill, which nothing can allow. */
  asset?: true
  /** A person allowed it with "always", but the tool has changed since. */
  changed?: true
  /** For a command line: the parts that need a question. */
  parts?: AskedPart[]
}

/** Sources of rules that a person did not write. */
const weak = new Set(["agent", "project", "typescript"])
/** Sources whose rules may be copied from a question or an error message. */
const exact = new Set(["grant", "session"])
const strictness = { allow: 0, ask: 1, deny: 2 }

export function evaluate(need: Need, ...layers: Layer[]): Decision {
  if (need.permission === "bash.execute") return evaluateShell(need.target, placeOf(need), layers)
  if (!isFile(need.permission)) return evaluateNamed(need, layers)
  const worktree = worktreeNow()
  const path = readPath(need.target, worktree)
  if (path.isAbsolute && SecretFiles.isSecret(`/${path.segments.join("/")}`))
    return sealed(
      decide(
        layers,
        need.permission,
        (rule) => fitsFile(rule, path, worktree) && (rule.action === "deny" || namesSecrets(rule, worktree)),
      ),
    )
  const decision = decide(layers, need.permission, (rule) => fitsFile(rule, path, worktree))
  return need.permission !== "file.read" && isOwnConfiguration(path) ? guarded(decision) : decision
}

/** What the rules say about a command line for `bash -c`. */
export function evaluateCommand(command: string, rules: Rule[]): Action {
  return evaluateShell(command, placeOf({}), [{ source: "user", rules }]).action
}

/** Whether the first allows less. */
export function isStricter(first: Action, second: Action): boolean {
  return strictness[first] > strictness[second]
}

/** Applies the rules of a session and of each of its parents; the strictest decision wins. */
export function evaluateAll(need: Need, stacks: [Layer[], ...Layer[][]]): Decision {
  const [first, ...others] = stacks
  return strictest(evaluate(need, ...first), ...others.map((layers) => evaluate(need, ...layers)))
}

/** The strictest decision; of equally strict ones the first. */
export function strictest(first: Decision, ...others: Decision[]): Decision {
  let least = first
  for (const other of others) {
    if (strictness[other.action] > strictness[least.action]) least = other
    else if (other.action === least.action) least = { ...marksOf(other), ...least }
  }
  return least
}

function marksOf({ protected: isProtected, changed }: Decision): Pick<Decision, "protected" | "changed"> {
  return { ...(isProtected ? { protected: true } : {}), ...(changed ? { changed: true } : {}) }
}

/** The narrowest rules that would allow a need: one for each command of a line. Empty if no rule can. */
export function narrowest({ permission, target }: Need): Rule[] {
  if (!isKnown(permission)) return []
  const patterns =
    permission === "bash.execute" ? writtenCommands(target) : [isFile(permission) ? shown(target) : target]
  if (patterns.some((pattern) => !isExact({ permission, pattern }))) return []
  return patterns.map((pattern) => ({ permission, pattern, action: "allow" }))
}

/** Whether a pattern matches exactly one target. A folder with its slash means everything below it. */
export function isExact({ permission, pattern }: Pick<Rule, "permission" | "pattern">): boolean {
  return pattern !== "" && !hasWildcard(pattern) && !(isFile(permission) && pattern.endsWith("/"))
}

export function isOutside({ permission, target }: Need): boolean {
  return isFile(permission) && worktreeNow() !== undefined && posix.isAbsolute(shown(target))
}

/** A grant for an MCP tool applies only while the tool is unchanged; rules that a person wrote apply to its name. */
function evaluateNamed({ permission, target, fingerprint }: Need, layers: Layer[]): Decision {
  let changed = false
  const judge = (fitsName: (rule: Rule) => boolean) =>
    decide(layers, permission, (rule, source) => {
      if (!fitsName(rule)) return false
      // A rule for every permission does not mean to show secrets, and no project or agent can allow that.
      if (permission === "secret.show" && rule.action !== "deny")
        if (rule.permission !== permission || weak.has(source)) return false
      if (source !== "grant" || rule.written || rule.fingerprint === fingerprint) return true
      changed ||= rule.fingerprint !== undefined
      return false
    })
  const fits = ({ pattern }: Rule) => fitsText(pattern, target)
  // Models and other programs call `my.server` `my_server`, so a rule that denies that name applies to this server.
  const plain = permission === "mcp.call" ? target.replace(/[^\w/-]/g, "_") : target
  const meant = (rule: Rule) => fits(rule) || (rule.action !== "allow" && fitsText(rule.pattern, plain))
  const decision = plain === target ? judge(fits) : strictest(judge(fits), judge(meant))
  return changed && decision.action === "ask" ? { ...decision, changed } : decision
}

function placeOf({ cwd }: Pick<Need, "cwd">): Place {
  const worktree = worktreeNow()
  return worktree === undefined ? noPlace : { worktree, folders: [cwd ?? worktree] }
}

function evaluateShell(command: string, place: Place, layers: Layer[]): Decision {
  const isSecret = mentionsSecrets(command)
  const touches = mentionsOwnConfiguration(command)
  const textOf = readTexts(command)
  const decision: Decision = judgeCommand(command, place, (fits) =>
    decide(layers, "bash.execute", (rule, source) => {
      if (touches && isWide(rule)) return false
      if (isSecret && rule.action !== "deny" && !namesSecrets(rule, undefined)) return false
      // Grants have the quotes that the person saw, and match only that; a wildcard that the person wrote matches the
      // text, as in the configuration.
      const isText = source !== "grant" || (rule.written && hasWildcard(rule.pattern))
      if (isText && fits(rule, source)) return true
      if (rule.action !== "allow" || !exact.has(source) || hasWildcard(rule.pattern)) return false
      const pattern = textOf(rule.pattern)
      return pattern !== undefined && fits({ ...rule, pattern }, source)
    }),
  )
  if (isSecret) return sealed(decision)
  return touches ? guarded(decision) : decision
}

/** Denies access to our own keys and tokens unless a rule names them. A rule that was written in an answer does not. */
export function sealed(decision: Decision): Decision {
  const { action, rule } = decision
  if (action === "deny") return decision
  if (!rule || rule.written || !namesSecrets(rule, worktreeNow())) return { action: "deny", secret: true }
  return action === "ask" ? { ...decision, protected: true } : decision
}

function isWide({ action, pattern }: Rule): boolean {
  return action === "allow" && hasWildcard(pattern)
}

/** The decision about a change of files that decide what runs: a rule with a wildcard does not allow it, and neither does
 * one that was written in an answer. */
export function guarded(decision: Decision): Decision {
  if (decision.action === "deny") return decision
  const { rule } = decision
  if (decision.action === "allow" && !hasWildcard(rule!.pattern) && !rule!.written) return decision
  return { ...decision, action: "ask", protected: true }
}

function decide(
  layers: Layer[],
  permission: string,
  fits: (rule: Rule & Meant, source: string) => boolean,
): Decision {
  let decision: Decision = { action: "ask" }
  let isHeld = false
  for (const { source, rules } of layers) {
    if (isHeld && weak.has(source)) continue
    // A grant answers a question. A denial applies now, and may be newer than the grant.
    if (source === "grant" && decision.action === "deny") continue
    for (const rule of rules) {
      if (!covers(rule, permission)) continue
      // An ambiguous rule counts as the strictest that it could mean.
      if (!isWhole(rule)) decision = { action: "deny", rule, source }
      else if (fits(rule, source)) decision = { action: rule.action, rule, source }
      else continue
      isHeld = decision.action === "deny" && source !== "default" && !weak.has(source)
    }
  }
  return decision
}

function fitsFile({ pattern, action, permission }: Rule, path: Path, worktree: string | undefined): boolean {
  if (pattern !== "*") return fitsPath(pattern, path, worktree)
  // A deny rule for "*" applies to every path; an allow rule only to those that a star matches.
  if (action !== "allow") return true
  return fitsPath(isFile(permission) ? "*" : "**", path, worktree)
}

/** A file as a rule would name it: relative to the worktree, or absolute outside it. */
export function shown(target: string): string {
  const worktree = worktreeNow()
  if (worktree === undefined) return target
  const path = posix.resolve(worktree, target)
  const way = posix.relative(worktree, path)
  if (way === ".." || way.startsWith("../")) return path
  return /^[~\s]/.test(way) ? `./${way}` : way || "."
}

function worktreeNow(): string | undefined {
  return Instance.isProvided ? Instance.worktree : undefined
}
