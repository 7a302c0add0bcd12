// The configuration of a work tree: what each layer says, merged, checked and kept per instance. A long-lived process
// watches it; a broken edit leaves the last good one in force and says so.
import { AsyncLocalStorage } from "node:async_hooks"
import { realpathSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/log.ts"
import * as Vcs from "#kernel/vcs.ts"
import { errorText } from "#util/error.ts"
import { Invalid } from "./invalid.ts"
import { configFiles, type Layer, readLayers, remoteLayer, type Source, type Status } from "./layers.ts"
import { findOrigins, mergeLayers, type Origins } from "./merge.ts"
import { renewCache } from "./remote.ts"
import type { Ignored } from "./restrict.ts"
import { Info, type Input } from "./schema.ts"
import { holdSecrets } from "./secrets.ts"
import { watchFiles } from "./watch-files.ts"

export { Invalid, type Problem } from "./invalid.ts"
export { Info, type Input, McpServer, Provider, Rule, Standalone } from "./schema.ts"
export { redacted } from "./secrets.ts"
export type { Ignored, Origins, Source, Status }

/** A config with its story. Secrets are in it: show it through `redacted`. */
export type Inspection = {
  config: Info
  origins: Origins
  layers: { source: Source; path?: string; status: Status }[]
  warnings: string[]
  ignored: Ignored[]
}
type Loaded = Inspection & { values: Map<Source, unknown> }
type State = {
  end: AbortController
  loaded?: Promise<Loaded>
  /** Why the last reload was not taken. */
  problem?: string
  reloading: Promise<unknown>
  renewing?: Promise<unknown>
  renewedUrl?: string
  stopWatch?: Promise<() => void>
}

/** `sources` are the layers that say something else than before. */
export const Changed = Bus.define("config.changed", z.object({ sources: z.array(z.string()) }))

const state = Instance.state(
  (): State => ({ end: new AbortController(), reloading: Promise.resolve() }),
  async ({ end, renewing, stopWatch }) => {
    end.abort()
    ;(await stopWatch)?.()
    await renewing
  },
)

/** The configuration of the current instance: read once, then kept until a reload replaces it. */
export async function get(): Promise<Info> {
  return (await loadOnce(state())).config
}

/** What `inspect` says about the configuration in force, the problem of a failed reload included. */
export async function current(): Promise<Inspection> {
  const own = state()
  const { values: _, ...inspection } = await loadOnce(own)
  return own.problem ? { ...inspection, warnings: [...inspection.warnings, own.problem] } : inspection
}

/** Read the configuration of a folder, apart from any instance. */
export async function load(options: { directory: string; inline?: Input }): Promise<Info> {
  return (await inspect(options)).config
}

/** As `load`, with where each value came from and what was left out. */
export async function inspect(options: { directory: string; inline?: Input }): Promise<Inspection> {
  const folder = realpathSync(options.directory)
  const { values: _, ...inspection } = await read(Vcs.find(folder)?.worktree ?? folder, options.inline)
  return inspection
}

/** Reload whenever a file of the configuration changes, until the instance is disposed. For long-lived processes. */
export async function watch(): Promise<void> {
  const own = state()
  if (own.stopWatch) return
  const { typescript, ...single } = configFiles(Instance.worktree)
  const files = [...Object.values(single), ...typescript].filter((file) => file !== undefined)
  const onChange = AsyncLocalStorage.bind(() => void reload())
  own.stopWatch = watchFiles(files, onChange)
  await own.stopWatch
  // What changed before the watches stood is seen here.
  if (own.loaded) await reload()
  else await get().catch(() => undefined)
}

/** Read again, one after the other. What cannot be used is logged and changes nothing. */
export function reload(): Promise<void> {
  const own = state()
  const done = own.reloading.then(() => reloadOnce(own))
  own.reloading = done.catch(() => undefined)
  return done
}

async function reloadOnce(own: State): Promise<void> {
  const before = await own.loaded?.catch(() => undefined)
  let next: Loaded
  try {
    next = await read(Instance.worktree)
  } catch (error) {
    if (own.end.signal.aborted) return
    own.problem = `the changed configuration is not used, the last good one stays: ${errorText(error)}`
    for (const line of own.problem.split("\n")) Log.warn(line)
    return
  }
  if (own.end.signal.aborted) return
  own.loaded = Promise.resolve(next)
  delete own.problem
  adopt(own, next, before)
  if (isDeepStrictEqual(before?.config, next.config)) return
  Bus.publish(Changed, { sources: differing(before?.values ?? new Map(), next.values) })
}

function differing(before: Map<Source, unknown>, after: Map<Source, unknown>): Source[] {
  const sources = new Set([...before.keys(), ...after.keys()])
  return [...sources].filter(
    (source) => !isDeepStrictEqual(before.get(source) ?? {}, after.get(source) ?? {}),
  )
}

/** A failed first load is not kept, so that the next caller tries again. */
function loadOnce(own: State): Promise<Loaded> {
  own.loaded ??= read(Instance.worktree).then(
    (loaded) => {
      adopt(own, loaded)
      return loaded
    },
    (error) => {
      delete own.loaded
      throw error
    },
  )
  return own.loaded
}

/** Say what is new to say, and renew the remote layer when its URL is new. */
function adopt(own: State, loaded: Loaded, before?: Loaded) {
  for (const warning of loaded.warnings) if (!before?.warnings.includes(warning)) Log.warn(warning)
  if (loaded.ignored.length > 0 && !isDeepStrictEqual(loaded.ignored, before?.ignored))
    for (const { source, key, reason } of loaded.ignored)
      Log.warn(`${key} is ignored: ${reason}`, { layer: source })
  const { remote } = loaded.config
  if (own.end.signal.aborted || own.renewedUrl === remote?.url) return
  own.renewedUrl = remote?.url
  if (!remote) return
  const check = (bytes: Uint8Array) => usable([remoteLayer(remote.url, bytes)])
  own.renewing = renewCache({ remote, signal: own.end.signal, check }).then((renewed) => {
    if (renewed && !own.end.signal.aborted) void reload()
  })
}

async function read(worktree: string, inline?: Input): Promise<Loaded> {
  const layers = await readLayers({ worktree, inline })
  for (const { value } of layers) holdSecrets(value)
  usable(layers)
  const config = Info.parse(mergeLayers(layers))
  return {
    config,
    origins: findOrigins(config, layers),
    layers: layers.map(({ source, path, status }) => ({ source, ...(path ? { path } : {}), status })),
    warnings: layers.flatMap((layer) => layer.warnings),
    ignored: layers.flatMap((layer) => layer.ignored),
    values: new Map(layers.map(({ source, value }) => [source, value])),
  }
}

function usable(layers: Layer[]) {
  const problems = layers.flatMap((layer) => layer.problems)
  if (problems.length > 0) throw new Invalid(problems)
}
