// Every directory that a request names becomes an instance, with watches and memory of its own. Those that nobody uses
// any more are taken down: after a while, and the oldest as soon as there are too many. The server's own stays.
import { existsSync, realpathSync } from "node:fs"
import { Instance } from "#kernel/instance.ts"

export type IdleSweep = Readonly<{
  /** To be called when an instance is made. */
  run(): void
  stop(): void
}>

export function createIdleSweep(options: {
  directory: string
  /** In milliseconds, as `every`. */
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
