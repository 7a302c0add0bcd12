// The guards of the current instance: those of the configuration, and those of the files in `.vitamin/guards`. Loaded once,
// and again when either has changed.
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { createGuard, type Data, type Guard } from "./guard.ts"
import { readyMade } from "./ready-made.ts"

type Loaded = { config: Config.Info["guards"]; guards: readonly Guard[] }

const state = Instance.state((): { loaded?: Loaded } => ({}))

/** The same list as long as the guards are the same. */
export async function loadGuards(): Promise<readonly Guard[]> {
  const { guards: config } = await Config.get()
  const own = state()
  if (own.loaded?.config !== config || !own.loaded) own.loaded = { config, guards: configuredGuards(config) }
  return own.loaded.guards
}

/** The guards of a configuration, in its order. */
export function configuredGuards(config: Config.Info["guards"] = {}): Guard[] {
  return Object.entries(config).flatMap(([name, options]) => {
    if (!options || options.enabled === false) return []
    return readyMade(name, options) ?? createGuard(name, options as Data)
  })
}
