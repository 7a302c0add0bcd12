// The guards of the current instance: those of the configuration, those of files in TypeScript, and those that a program
// added. Loaded once, and again when one of them has changed.
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { checkLayer } from "#kernel/schema/check.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { Info } from "#kernel/schema/schema.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import { addedGuards } from "./added-guards.ts"
import { createGuard, type Data, type Guard } from "./guard.ts"
import { readyMade } from "./ready-made.ts"

type Loaded = {
  config: Config.Info["guards"]
  added: Config.Info["guards"]
  stamp: string
  guards: readonly Guard[]
  problems: readonly string[]
}

const state = Instance.state((): { loaded?: Loaded } => ({}))

/** The same list as long as the guards are the same. */
export async function loadGuards(): Promise<readonly Guard[]> {
  const { guards: config } = await Config.get()
  const { readGuardFiles, stampOf } = await import("./guard-file.ts")
  const stamp = await stampOf(Instance.worktree)
  const own = state()
  const added = addedGuards()
  const { loaded } = own
  if (loaded?.config === config && loaded?.added === added && loaded?.stamp === stamp) return loaded.guards
  const { guards, problems } = stamp ? await readGuardFiles(Instance.worktree) : { guards: [], problems: [] }
  for (const problem of problems) Log.warn(problem)
  const configured = configuredGuards({ ...added, ...config })
  own.loaded = { config, added, stamp, guards: uniquely([...configured, ...guards]), problems }
  return own.loaded.guards
}

/** Files whose guards are not used, and why, as of the last `loadGuards`. */
export function unusedFiles(): readonly string[] {
  return state().loaded?.problems ?? []
}

/** The guards of a file that has the value of `guards`, as JSONC. */
export async function readGuards(file: string): Promise<Guard[]> {
  const bytes = await readSmallFile(file)
  if (!bytes) throw new Config.Invalid([{ source: file, path: "", message: "the file does not exist" }])
  const { value: guards } = parseJsonc(bytes, file)
  const { value, warnings, problems } = checkLayer({ schema: Info, value: { guards }, source: file })
  for (const warning of warnings) Log.warn(warning)
  if (problems.length) throw new Config.Invalid(problems)
  return configuredGuards(Info.parse(value).guards)
}

/** The guards of a configuration, in its order. */
export function configuredGuards(config: Config.Info["guards"] = {}): Guard[] {
  return Object.entries(config).flatMap(([name, options]) => {
    if (!options || options.enabled === false) return []
    return readyMade(name, options) ?? createGuard(name, options as Data)
  })
}

/** A later guard of the same name gets its file in front, and a number if that is taken too. */
function uniquely(guards: readonly Guard[]): Guard[] {
  const names = new Set<string>()
  return guards.map((guard) => {
    let { name } = guard
    for (let i = 1; names.has(name); i++) name = `${guard.source}: ${guard.name}${i > 1 ? ` ${i}` : ""}`
    names.add(name)
    return name === guard.name ? guard : Object.freeze({ ...guard, name })
  })
}
