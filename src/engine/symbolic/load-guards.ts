// The guards of the current instance: those of the configuration, and those of files in TypeScript. Loaded once, and again
// when either has changed.
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { createGuard, type Data, type Guard } from "./guard.ts"
import { readyMade } from "./ready-made.ts"

type Loaded = { config: Config.Info["guards"]; stamp: string; guards: readonly Guard[] }

const state = Instance.state((): { loaded?: Loaded } => ({}))

/** The same list as long as the guards are the same. */
export async function loadGuards(): Promise<readonly Guard[]> {
  const { guards: config } = await Config.get()
  const { readGuardFiles, stampOf } = await import("./guard-file.ts")
  const stamp = await stampOf(Instance.worktree)
  const own = state()
  if (own.loaded && own.loaded.config === config && own.loaded.stamp === stamp) return own.loaded.guards
  const { guards, problems } = stamp ? await readGuardFiles(Instance.worktree) : { guards: [], problems: [] }
  for (const problem of problems) Log.warn(problem)
  own.loaded = { config, stamp, guards: uniquely([...configuredGuards(config), ...guards]) }
  return own.loaded.guards
}

/** The guards of a configuration, in its order. */
export function configuredGuards(config: Config.Info["guards"] = {}): Guard[] {
  return Object.entries(config).flatMap(([name, options]) => {
    if (!options || options.enabled === false) return []
    return readyMade(name, options) ?? createGuard(name, options as Data)
  })
}

/** A later guard of the same name gets its file in front. */
function uniquely(guards: readonly Guard[]): Guard[] {
  const names = new Set<string>()
  return guards.map((guard) => {
    const name = names.has(guard.name) ? `${guard.source}: ${guard.name}` : guard.name
    names.add(name)
    return name === guard.name ? guard : Object.freeze({ ...guard, name })
  })
}
