// Disposes idle instances. Every directory that a request names becomes an instance with file watchers and memory of its
// own. Instances are disposed after a time without use, and the oldest ones when there are too many. The instance of the
// server's own directory stays.
import { existsSync, realpathSync } from "node:fs"
import { Instance } from "#kernel/instance.ts"

export type IdleSweep = Readonly<{
  /** Must be called when an instance is created. */
  run(): void
  stop(): void
}>

export function createIdleSweep(options: {
  directory: string
  /** In milliseconds, like `every`. */
  olderThan: number
  keep: number
  every: number
}): IdleSweep {
  const { directory, olderThan, keep } = options
  const except = existsSync(directory) ? realpathSync(directory) : directory
  const run = () => void Instance.disposeIdle({ olderThan, keep, except })
  const timer = setInterval(run, options.every).unref()
  return Object.freeze({ run, stop: () => clearInterval(timer) })
}
