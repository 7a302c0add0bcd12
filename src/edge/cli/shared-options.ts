// The options of every command.

import { UsageError } from "#edge/cli/process/exit.ts"
import * as Log from "#kernel/process/log.ts"

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
