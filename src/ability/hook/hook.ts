// A hook of one event, and whether it is for something that happens.
import * as Permission from "#ability/permission/permission.ts"
import type { Raw } from "#kernel/schema/check.ts"
import type { HookEvent, HookFunction } from "#kernel/schema/schema.ts"
import { runLimited } from "#util/run-limited.ts"
import { fitsText } from "#util/wildcard.ts"

export type Hook = Readonly<{
  event: HookEvent
  /** True if its matcher fits one of these names. */
  fits: (names: readonly string[]) => boolean
  matcher: string
  /** For people: its command, tool or function, shortened. */
  name: string
  /** The file that defines it. */
  source: string
  /** Milliseconds. */
  timeout: number
  /** A rule such as `Bash(git push *)`: it runs only for calls that fit. */
  condition?: string | undefined
  /** Nobody waits for it, and it decides nothing. */
  isAsync?: boolean
  /** A failure counts as a block. */
  failsClosed?: boolean
  work: Command | McpTool | { type: "function"; call: HookFunction }
}>

export type Command = {
  type: "command"
  command: string
  /** The program is started without a shell. */
  args?: readonly string[] | undefined
  /** The folder of the plugin that it belongs to. */
  pluginRoot?: string | undefined
  /** The files that it runs belong to the project, and must be reviewed. */
  isProjects: boolean
}
export type McpTool = { type: "mcp_tool"; server: string; tool: string; input?: Raw | undefined }

/** The subject of an event: the names that a matcher may use, and the arguments of a call. */
export type About = { names?: readonly string[]; args?: Raw }

export function isFor(hook: Hook, event: HookEvent, { names, args }: About): boolean {
  if (hook.event !== event || (names && !hook.fits(names))) return false
  return hook.condition === undefined || fitsCondition(hook.condition, names ?? [], args ?? {})
}

/** Milliseconds that a regular expression may take. */
const maxMatching = 100

/** A matcher is a list of names, `Edit|Write`, or else a regular expression. Throws for a text that is neither. An
 * expression that takes too long fits: a hook that runs too often is safer than one that does not run. */
export function createMatcher(matcher: string): Hook["fits"] {
  if (matcher === "" || matcher === "*") return () => true
  if (/^[\w\s|,-]+$/.test(matcher)) {
    const wanted = new Set(matcher.split(/[|,]/).map((name) => name.trim()))
    return (names) => names.some((name) => wanted.has(name))
  }
  const pattern = new RegExp(matcher)
  return (names) => {
    const matched = runLimited(() => names.some((name) => pattern.test(name)), maxMatching)
    return matched?.result ?? true
  }
}

/** `Bash(git push *)` or `Edit(*.ts)`. A condition that cannot be read fits everything: a hook that runs too often is safer
 * than one that does not run. */
function fitsCondition(condition: string, names: readonly string[], args: Raw): boolean {
  const [, name, pattern] = /^([\w-]+)(?:\((.*)\))?$/s.exec(condition.trim()) ?? []
  if (name === undefined) return true
  if (!names.includes(name)) return false
  if (pattern === undefined) return true
  const target = args.command ?? args.file_path ?? args.url ?? args.pattern
  if (typeof target !== "string") return true
  const wanted = pattern.replace(/:\*$/, "*").replace(/ \*$/, "*")
  if (args.command === undefined) return fitsText(wanted, target) || fitsText(`*/${wanted}`, target)
  return [target, ...Permission.mentionedCommands(target)].some((one) => fitsText(wanted, one))
}
