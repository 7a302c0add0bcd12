// The events that guards see. An action is offered under the name of its tool before it happens; its result is told as
// `NAME.done` or `NAME.failed`. Patterns are matched against the keys of an event: `edit:src/a.ts`, `file.edit:src/a.ts`.
import { parse, relative, resolve } from "node:path"
import * as KeptFolder from "#ability/call/kept-folder.ts"
import * as Permission from "#ability/permission/permission.ts"
import type { Step } from "#ability/tool/run-tool.ts"
import type { Event } from "#kernel/behavioral/behavioral.ts"
import { Instance } from "#kernel/instance.ts"
import { isInside, statInside } from "#util/file/resolve-inside.ts"
import { type Path, readPath } from "#util/wildcard.ts"

/** `path`: the target, if it is a file. */
export type Key = { name: string; target?: string; path?: Path }
export type Detail = Readonly<{
  keys: readonly Key[]
  tool?: string
  args?: unknown
  /** What the call needs: `file.edit:src/a.ts`. */
  needs?: readonly string[]
  /** The file that it is about, from the work tree. */
  path?: string
  /** What it is about: a path, a command, a URL, an agent. */
  target?: string
  /** Of a command. */
  exitCode?: number
  tokens?: number
  /** USD. */
  cost?: number
}>
export type GuardEvent = Event & { detail: Detail }

/** A call as the record of a session keeps it: `file.edit:src/a.ts` is a need. */
export type Deed = { tool: string; needs: readonly string[]; args?: unknown }
/** The result of a call. `isOpen`: nothing is known about its command, which still runs. `isDenied`: it never ran. */
export type Outcome = { hasFailed: boolean; exitCode?: number; isOpen?: boolean; isDenied?: boolean }

export type Offer = Pick<Step, "tool" | "needs" | "call" | "context">

/** A call as it is offered. The arguments are those of the model, which the record keeps. */
export function deedOf({ tool, needs, call, context }: Offer): Deed {
  const folder = KeptFolder.get(context.sessionId).cwd
  return { tool: tool.id, needs: needsOf({ tool, needs, folder }), args: call.arguments }
}

/** What a call needs, as keys for patterns. Files are named from the work tree, also by their real path. `folder`: where a
 * command starts. */
export function needsOf(given: { needs: Step["needs"]; tool: { id: string }; folder?: string }): string[] {
  const { needs, tool, folder = Instance.directory } = given
  const found = new Set<string>()
  for (const { permission, target } of needs) {
    if (permission.startsWith("file.")) for (const one of fileNeeds(permission, target)) found.add(one)
    else found.add(`${permission}:${target}`)
    if (permission === "bash.execute")
      for (const path of Permission.secretsIn(target, folder)) found.add(`secret.read:${shown(path)}`)
  }
  return found.size ? [...found] : [`tool.execute:${tool.id}`]
}

export function actionOf({ tool, needs, args }: Deed): GuardEvent {
  return { type: tool, detail: { tool, args, needs, ...subjectOf(needs), keys: keysOf(tool, needs, "") } }
}

export function resultOf({ tool, needs, args }: Deed, outcome: Outcome): GuardEvent {
  const { hasFailed, exitCode, isOpen, isDenied } = outcome
  const ending = hasFailed ? ".failed" : ".done"
  const told = needs.filter((need) => (isSecret(need) ? !isDenied : !isOpen))
  const known = { ...(exitCode === undefined ? {} : { exitCode }), ...subjectOf(needs) }
  return {
    type: tool + ending,
    detail: { tool, args, needs: told, ...known, keys: keysOf(tool, told, ending) },
  }
}

/** A person said yes to a question of a guard about an action. */
export function approvalOf({ detail }: GuardEvent): GuardEvent {
  const targets = detail.keys.map(({ name: _, ...about }) => ({ name: "approve", ...about }))
  return { type: "approve", detail: { ...detail, keys: [{ name: "approve" }, ...targets] } }
}

/** An event that is no call: `start`, `prompt`, `answer`, `mode:plan`, `usage`. */
export function plainEvent(type: string, about: Omit<Detail, "keys"> = {}): GuardEvent {
  const { target } = about
  const keys = [{ name: type }, ...(target === undefined ? [] : [{ name: type, target }])]
  return { type, detail: { ...about, keys } }
}

function fileNeeds(permission: string, target: string): string[] {
  const path = resolve(Instance.directory, target)
  const { real, stat } = placeOf(path)
  const names = [...new Set([path, real])].map(shown)
  return names.flatMap((name) => [
    `${permission}:${name}`,
    ...(permission === "file.write" && stat?.isFile() ? [`file.replace:${name}`] : []),
    ...(permission === "file.read" && Permission.isSecretFile(name) ? [`secret.read:${name}`] : []),
  ])
}

/** A path that cannot be looked at is judged by its name; the call fails later. */
function placeOf(path: string): Partial<ReturnType<typeof statInside>> & { real: string } {
  try {
    return statInside(parse(path).root, path)
  } catch {
    return { real: path }
  }
}

function shown(path: string): string {
  return isInside(Instance.worktree, path) ? relative(Instance.worktree, path) || "." : path
}

function keysOf(tool: string, needs: readonly string[], ending: string): Key[] {
  const keys: Key[] = [{ name: tool + ending }]
  const isCommand = needs.some((need) => need.startsWith("bash.execute:"))
  for (const need of needs) {
    const colon = need.indexOf(":")
    const [permission, target] = [need.slice(0, colon), need.slice(colon + 1)]
    const name = permission + ending
    if (permission === "bash.execute") {
      keys.push({ name })
      for (const one of commandsOf(target, ending))
        keys.push({ name: tool + ending, target: one }, { name, target: one })
      continue
    }
    const path = isFile(permission) ? { path: readPath(target) } : {}
    // Only the permissions of the call itself belong to its tool.
    if (!extra.has(permission)) keys.push({ name: tool + ending, target, ...path })
    // A command that failed may have shown what it read.
    if (isCommand && ending && isSecret(need)) keys.push({ name: "secret.read.done", target, ...path })
    else keys.push({ name, target, ...path })
  }
  return keys
}

const extra = new Set(["file.replace", "secret.read"])

function isSecret(need: string): boolean {
  return need.startsWith("secret.read:")
}

function isFile(permission: string): boolean {
  return permission.startsWith("file.") || permission === "secret.read"
}

/** The line and each command in it: all that it may run, or those that have certainly succeeded. */
function commandsOf(line: string, ending: string): string[] {
  if (ending === "") return [...new Set([line, ...Permission.mentionedCommands(line)])]
  if (ending === ".done") return Permission.succeededCommands(line)
  const commands = Permission.commandsIn(line)?.map(({ text }) => text) ?? []
  return [...new Set([line, ...commands.filter(Boolean)])]
}

/** The last name of a file is its real one. */
function subjectOf(needs: readonly string[]): Pick<Detail, "path" | "target"> {
  const first = needs[0]
  if (first === undefined) return {}
  const permission = first.slice(0, first.indexOf(":"))
  const own = needs.findLast((need) => need.startsWith(`${permission}:`)) ?? first
  const target = own.slice(own.indexOf(":") + 1)
  return { target, ...(isFile(permission) ? { path: target } : {}) }
}
