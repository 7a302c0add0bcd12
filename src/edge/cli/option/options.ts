// Options of every command, and options that several commands take. yargs gives NaN for "abc" and accepts -1 for a number;
// both are refused here.
import type { Rule } from "#ability/permission/permission.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"

export type RuleOptions = { allow?: string[] | undefined; deny?: string[] | undefined }

/** `text` is for people, `json` for programs. */
export const format = {
  choices: ["text", "json"] as const,
  default: "text" as const,
  describe: "output format",
}

export const sharedOptions = {
  dir: { type: "string", describe: "folder to work in (default: this one)", global: true },
  trust: { type: "boolean", describe: "trust the folder for this run only", global: true },
  set: {
    alias: "C",
    type: "string",
    array: true,
    nargs: 1,
    requiresArg: true,
    describe: "set KEY=VALUE for this run, such as provider.openai.baseURL=http://…",
    global: true,
  },
  "log-level": { choices: Log.levels, describe: "how much to log on stderr", global: true },
  "log-file": { type: "string", describe: "log to a file instead of stderr", global: true },
} as const

/** An option that takes a number above 0. */
export function positiveNumber<T extends string>(name: string, describe: T) {
  return {
    type: "number",
    requiresArg: true,
    describe,
    coerce: checker(name, "a number above 0", isPositive),
  } as const
}

/** An option that takes a whole number from 1 on. */
export function positiveInteger<T extends string>(name: string, describe: T) {
  const check = (value: number) => isPositive(value) && Number.isInteger(value)
  return {
    type: "number",
    requiresArg: true,
    describe,
    coerce: checker(name, "a whole number from 1 on", check),
  } as const
}

function checker(name: string, wanted: string, check: (value: number) => boolean) {
  return (value: unknown): number => {
    if (typeof value === "number" && check(value)) return value
    const twice = Array.isArray(value) ? ", once" : ""
    throw new UsageError(`${name} takes ${wanted}${twice}, such as ${name} 5`)
  }
}

function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0
}

/** `enabled` of `adapters.sandbox`, for one command. */
export const sandbox = {
  type: "boolean",
  describe: "run the agent in a sandbox (see docs/sandbox.md)",
} as const

/** A password in it would show up in `ps`; VITAMIN_DATABASE does not. */
export const database = {
  type: "string",
  requiresArg: true,
  describe: "PostgreSQL that several servers share: postgres://… (see docs/cluster.md)",
} as const

export const port = {
  type: "number",
  coerce: portNumber,
  describe: "port to listen on; 0 takes a free one",
} as const

export const host = {
  type: "string",
  default: "127.0.0.1",
  coerce: hostName,
  describe: "address to listen on",
} as const

function hostName(host: unknown): string {
  if (typeof host === "string" && host.trim() !== "") return host.trim()
  throw new UsageError("--host takes one address, such as 127.0.0.1")
}

function portNumber(port: unknown): number {
  if (typeof port === "number" && Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UsageError("--port takes a number from 0 to 65535")
}

export async function takeShared(options: Record<string, unknown>): Promise<void> {
  if (options.logLevel) Log.setLevel(String(options.logLevel))
  if (options.logFile) Log.setFile(String(options.logFile))
  if (options.set) await takeSettings(options.set as string[])
}

/** `-C key=value`: settings of this run, above all files. */
async function takeSettings(settings: string[]): Promise<void> {
  const { setInline } = await import("#kernel/config/config.ts")
  const problem = setInline(settings)
  if (problem) throw new UsageError(`-C ${problem}`)
}

/** The rules of `--allow` and `--deny`. Deny rules come last, so they win. */
export async function rulesOf({ allow = [], deny = [] }: RuleOptions): Promise<Rule[]> {
  if (!allow.length && !deny.length) return []
  const { parseRule } = await import("#ability/permission/permission.ts")
  const parse = (action: "allow" | "deny") => (text: string) => {
    try {
      return parseRule(text, action)
    } catch (error) {
      throw new UsageError(`--${action}: ${errorText(error)}`)
    }
  }
  return [...allow.map(parse("allow")), ...deny.map(parse("deny"))]
}
