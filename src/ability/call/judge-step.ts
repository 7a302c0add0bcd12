// Judges a call by the rules. A file is judged by its path as written and by its real path; both must be allowed.
import { parse, resolve } from "node:path"
import { judgeCommand } from "#ability/call/judge/judge-command.ts"
import { isLinkToProtected, isSkillScript } from "#ability/call/judge/protected-files.ts"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside, statInside } from "#util/file/resolve-inside.ts"
import { hasWildcard } from "#util/wildcard.ts"
import * as KeptFolder from "./kept-folder.ts"
import { outputFolder } from "./output-folder.ts"
import type { Context, Definition, Need, Step } from "./types.ts"

export type Judgement = {
  action: Permission.Action
  needs: Permission.JudgedNeed[]
  /** What the call may reach outside the workspace if it runs. */
  granted: string[]
  /** The same if a person allowed the call. */
  grantedByPerson: string[]
  /** The real paths of the files. */
  reals: string[]
  /** Identifies what was judged: an answer counts for this only. */
  key: string
}
type Decide = (need: Need) => Permission.Decision

/** The needs of a call. A tool that declares none, and does not only read, needs permission itself. */
export function needsOf(tool: Definition, args: unknown, context: Pick<Context, "sessionId">): Need[] {
  if (tool.permission) return tool.permission(args, context)
  return tool.readOnly ? [] : [{ permission: "tool.execute", target: tool.id }]
}

export async function judgeStep(step: Omit<Step, "call">, decide: Decide): Promise<Judgement> {
  const needs: Permission.JudgedNeed[] = []
  const granted: string[] = []
  const origins: string[] = []
  const reals: string[] = []
  for (const need of step.needs) {
    if (need.permission.startsWith("file.")) {
      const { judged, real } = await judgeFile(need, step.context.sessionId, decide)
      needs.push(...judged)
      reals.push(real)
      if (!isInside(Instance.worktree, real)) granted.push(real)
      continue
    }
    const decision = await judgeOther(need, step, decide)
    needs.push({ ...need, ...decision })
    const origin = need.permission === "network.fetch" ? originOf(need.target) : undefined
    if (origin) (namesOrigin(decision, origin) ? granted : origins).push(origin)
  }
  return {
    action: Permission.strictest({ action: "allow" }, ...needs).action,
    needs,
    granted,
    grantedByPerson: [...granted, ...origins.filter(isPlain)],
    reals,
    key: JSON.stringify([step.needs, reals]),
  }
}

/** The key of the judgement that this step would get now. */
export function keyOf({ needs }: Pick<Step, "needs">): string {
  const files = needs.filter(({ permission }) => permission.startsWith("file."))
  return JSON.stringify([needs, files.map(({ target }) => placeOf(target).real)])
}

function placeOf(target: string) {
  const path = resolve(Instance.directory, target)
  return { target: path, ...statInside(parse(path).root, path) }
}

/** The path as written, and the real path if it differs. */
async function judgeFile(need: Need, sessionId: string, decide: Decide) {
  const { target, real, stat } = placeOf(need.target)
  // The path is made absolute, so that people are shown, and grants refer to, what was judged.
  const judged: Permission.JudgedNeed[] = [{ ...need, target, ...decide({ ...need, target }) }]
  if (real !== target) {
    const decision = decide({ ...need, target: real })
    // `--yes` answers for the path that a call names, not for where a link of the repository leads.
    const isHidden = need.permission !== "file.read" && leadsOut(target, real) && decision.action === "ask"
    judged.push({ ...need, target: real, ...decision, ...(isHidden ? { protected: true } : {}) })
  }
  if (need.permission !== "file.read" && ((await isSkillScript(real)) || (await isLinkToProtected(stat))))
    for (const one of judged) Object.assign(one, Permission.guarded(one))
  if (need.permission === "file.edit") judged.push(...deniedReading([target, real], decide))
  const outputs = outputFolder(sessionId)
  const isOutput =
    need.permission === "file.read" && isInside(outputs, target) && isInside(realOf(outputs) ?? outputs, real)
  if (isOutput && judged.every(({ action }) => action !== "deny"))
    return { judged: [{ ...need, action: "allow" as const }], real }
  return { judged, real }
}

/** Whether a path of the workspace leads out of it. */
function leadsOut(target: string, real: string): boolean {
  return isInside(Instance.worktree, target) && !isInside(Instance.worktree, real)
}

/** An edit shows parts of the file. Permission to edit is enough if reading is not denied. */
function deniedReading(targets: string[], decide: Decide): Permission.JudgedNeed[] {
  const needs = targets.map((target) => ({ permission: "file.read", target }))
  return needs.map((need) => ({ ...need, ...decide(need) })).filter(({ action }) => action === "deny")
}

/** Only rules for `*` match a permission that a tool defines itself, so a rule that denies the tool denies it too. */
async function judgeOther(
  need: Need,
  { tool: { id }, context }: Omit<Step, "call">,
  decide: Decide,
): Promise<Permission.Decision> {
  if (need.permission === "bash.execute")
    return judgeCommand({ need, cwd: KeptFolder.get(context.sessionId).cwd, decide })
  const decision = decide(need)
  if (Permission.isKnown(need.permission)) return decision
  const tool = decide({ permission: "tool.execute", target: id })
  return tool.action === "deny" ? tool : decision
}

/**
 * Whether a rule names this origin, so that the call may reach it at a private address. A wildcard that happens to cover the
 * origin is not enough. Neither is a rule for one page of a named host: it may come from a reply to a question that did not
 * show the address.
 */
export function namesOrigin({ action, rule }: Permission.Decision, origin: string): boolean {
  if (action !== "allow" || !rule?.pattern.startsWith(`${origin}/`)) return false
  return isPlain(origin) || hasWildcard(rule.pattern)
}

/** True if the host is an address or "localhost". Any other name may lead anywhere, even to this machine. */
function isPlain(origin: string): boolean {
  return /^(localhost|[\d.]+|\[.+\])$/.test(new URL(origin).hostname)
}

function originOf(url: string): string | undefined {
  const { origin } = URL.parse(url) ?? {}
  return origin === "null" ? undefined : origin
}
