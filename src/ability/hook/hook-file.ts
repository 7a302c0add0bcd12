// Reads hooks from the JSON that Claude Code and Codex share: event → groups with a matcher → hooks. What cannot be used is
// named and does not affect the rest.
import { basename } from "node:path"
import { isGuest } from "#kernel/process/guest.ts"
import { isPlain, type Raw } from "#kernel/schema/check.ts"
import { type HookEvent, hookEvents, isHookEvent } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import { plainText } from "#util/plain-text.ts"
import { createMatcher, type Hook } from "./hook.ts"

/** A file of hooks. `refusal`: why its hooks are not used. */
export type HookSource = Readonly<{
  path: string
  bytes: Uint8Array
  refusal?: string | undefined
  /** The folder of the plugin that it belongs to: `${CLAUDE_PLUGIN_ROOT}`. */
  pluginRoot?: string | undefined
  /** The files that its commands run belong to the project, and must be reviewed. */
  isProjects: boolean
}>
export type ReadHooks = { hooks: Hook[]; problems: string[] }

const defaultTimeout = 60
/** The end of a session waits for its hooks. */
const endTimeout = 1.5
const mostEndTimeout = 3
const maxTimeout = 600
const maxHooks = 500
const maxProblems = 50
const maxName = 60

export function readHookFile(source: HookSource): ReadHooks {
  const found: ReadHooks = { hooks: [], problems: [] }
  const report = (where: string, message: string): undefined => {
    if (found.problems.length < maxProblems) found.problems.push(`${source.path}: ${where}${message}`)
  }
  let value: unknown
  try {
    value = parseJsonc(source.bytes, source.path).value.hooks
  } catch (error) {
    return { hooks: [], problems: [`its hooks are not used: ${errorText(error)}`] }
  }
  if (value === undefined) return found
  if (!isPlain(value)) {
    report("hooks", ": expected an object of events")
    return found
  }
  for (const [event, groups] of Object.entries(value)) {
    if (!isHookEvent(event)) {
      const near = nearest(event, hookEvents)
      report(`hooks.${event}`, `: there is no such event here${near ? `; did you mean "${near}"?` : ""}`)
    } else if (!Array.isArray(groups)) report(`hooks.${event}`, ": expected a list")
    else for (const [i, group] of groups.entries()) readGroup(event, group, `hooks.${event}[${i}]`)
  }
  return found

  function readGroup(event: HookEvent, group: unknown, where: string): undefined {
    if (!isPlain(group) || !Array.isArray(group.hooks))
      return report(where, ": expected { matcher, hooks: [ … ] }")
    const { matcher = "" } = group
    if (typeof matcher !== "string") return report(`${where}.matcher`, ": expected a text")
    for (const [i, entry] of group.hooks.entries()) {
      const place = `${where}.hooks[${i}]`
      if (found.hooks.length >= maxHooks) return report(place, `: more than ${maxHooks} hooks`)
      try {
        found.hooks.push(hookOf({ event, matcher, entry, source }))
      } catch (error) {
        report(place, `: ${errorText(error)}`)
      }
    }
  }
}

/** Throws for an entry that cannot be used. */
function hookOf(options: { event: HookEvent; matcher: string; entry: unknown; source: HookSource }): Hook {
  const { event, matcher, entry, source } = options
  if (!isPlain(entry)) throw new Error("expected an object")
  const { timeout, if: condition } = entry
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0))
    throw new Error("timeout: expected a number of seconds")
  if (condition !== undefined && typeof condition !== "string") throw new Error("if: expected a text")
  return {
    event,
    matcher,
    fits: createMatcher(matcher),
    source: source.path,
    timeout: timeoutFor(event, timeout),
    condition,
    ...(entry.async === true ? { isAsync: true } : {}),
    // In a sandbox a script of the person may be out of reach, and must not count as if it had agreed.
    ...(entry.onFailure === "block" || (isGuest() && !source.isProjects) ? { failsClosed: true } : {}),
    ...workOf(entry, source),
  }
}

/** In milliseconds. */
export function timeoutFor(event: HookEvent, seconds: number | undefined): number {
  const limit = event === "SessionEnd" ? mostEndTimeout : maxTimeout
  return 1_000 * Math.min(limit, seconds ?? (event === "SessionEnd" ? endTimeout : defaultTimeout))
}

function workOf(entry: Raw, { pluginRoot, isProjects }: HookSource): Pick<Hook, "name" | "work"> {
  const { type = "command", command, args, server, tool, input } = entry
  if (type === "command") {
    if (typeof command !== "string" || !command.trim()) throw new Error("command: expected a text")
    if (args !== undefined && !(Array.isArray(args) && args.every((word) => typeof word === "string")))
      throw new Error("args: expected a list of texts")
    const work = { type, command, args: args as string[] | undefined, pluginRoot, isProjects } as const
    return { name: nameOf(command), work }
  }
  if (type === "mcp_tool") {
    if (typeof server !== "string" || typeof tool !== "string") throw new Error("expected server and tool")
    if (input !== undefined && !isPlain(input)) throw new Error("input: expected an object")
    return { name: `${server}/${tool}`, work: { type, server, tool, input } }
  }
  throw new Error(
    `a hook of the type ${JSON.stringify(type)} cannot be used here; there are command and mcp_tool`,
  )
}

/** The name of the script that a command runs, or the command itself. */
function nameOf(command: string): string {
  const script = /(?:^|[\s"'])([^\s"']*\/)?([\w.-]+\.(?:sh|bash|py|[mc]?[jt]s|rb|pl))(?=["'\s]|$)/.exec(
    command,
  )?.[2]
  return plainText(script ?? command.replaceAll(/\s+/g, " "), maxName)
}

export function nameOfFunction(name: string, source: string): string {
  return name || `a function of ${basename(source)}`
}
