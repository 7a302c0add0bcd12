// The configuration of a work tree: the layers, merged, validated and cached per instance. A long-lived process
// watches the files; after a broken edit the last good configuration stays in force, and the error is reported.
import { AsyncLocalStorage } from "node:async_hooks"
import { realpathSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { checkLayer, type Raw } from "#kernel/schema/check.ts"
import { Invalid, type Problem } from "#kernel/schema/invalid.ts"
import { Info, type Input, type Rule } from "#kernel/schema/schema.ts"
import { registerSecrets, withoutSecrets } from "#kernel/schema/secrets.ts"
import * as Vcs from "#kernel/vcs.ts"
import { about } from "#util/about.ts"
import { errorText } from "#util/error.ts"
import { type Layer, type Source, type Status, withoutTrust } from "./layer.ts"
import { configFiles, findOrigins, mergeLayers, type Origins, readLayers, remoteLayer } from "./layers.ts"
import { renewCache } from "./remote.ts"
import type { Ignored } from "./restrict.ts"
import { readStamp, watchFiles, watchTrust } from "./watch.ts"

export {
  type AgentRule,
  Info,
  type Input,
  McpServer,
  Provider,
  Rule,
  Standalone,
} from "#kernel/schema/schema.ts"
export { redacted } from "#kernel/schema/secrets.ts"
export { setGiven, setInline } from "./layers.ts"
export { listSettings, type Setting } from "./list-settings.ts"
export type { Ignored, Origins, Source, Status }
export { Invalid, type Problem }

/** A configuration with the origin of its values. It contains secrets: show it through `redacted`. */
export type Inspection = {
  config: Info
  origins: Origins
  layers: { source: Source; path?: string; status: Status }[]
  warnings: string[]
  ignored: Ignored[]
}
type Loaded = { inspection: Inspection; parts: Layer[]; trusted: boolean }
type State = {
  end: AbortController
  loaded?: Promise<Loaded>
  /** Why the last reload failed. */
  problem?: string | undefined
  reloading: Promise<unknown>
  renewing?: Promise<unknown>
  renewedUrl?: string
  stopWatch?: Promise<() => Promise<unknown>>
  stamp?: string
}

/** The last warnings about each work tree, which several instances may share. */
const reported = new Map<string, Set<string>>()

export const Changed = Bus.define(
  "config.changed",
  z.object({ sources: about("Layers whose content has changed.", z.array(z.string())) }),
  { when: "The configuration changed and is in force." },
)

const state = Instance.state(
  (): State => ({ end: new AbortController(), reloading: Promise.resolve() }),
  async ({ end, renewing, stopWatch }) => {
    end.abort()
    await (await stopWatch)?.()
    await renewing
  },
)

/** The configuration of the current instance: read once, then cached until a reload. */
export async function get(): Promise<Info> {
  return (await loadOnce(state())).inspection.config
}

/** The permission rules of each layer, in the order of the layers. */
export async function rules(): Promise<{ source: Source; rules: Rule[] }[]> {
  const { parts } = await loadOnce(state())
  return parts.flatMap(({ source, value }) =>
    Array.isArray(value.permission) ? [{ source, rules: value.permission as Rule[] }] : [],
  )
}

/** The layers that the person wrote, for a process without access to them: plain data without keys and headers. */
export async function ownLayers(): Promise<{ source: Source; value: Raw }[]> {
  const { parts } = await loadOnce(state())
  return parts
    .filter(({ source }) => source !== "project" && source !== "typescript")
    .map(({ source, value }) => ({ source, value: withoutSecrets(value) }))
}

/** What `inspect` says about the current configuration, with the problem of a failed reload. */
export async function current(): Promise<Inspection> {
  const own = state()
  const { inspection } = await loadOnce(own)
  return own.problem ? { ...inspection, warnings: [...inspection.warnings, own.problem] } : inspection
}

/** Read the configuration of a folder, outside any instance. */
export async function load(options: { directory: string; inline?: Input }): Promise<Info> {
  return (await inspect(options)).config
}

/** Like `load`, with the origin of each value and what was left out. `isTrusted: false` treats the folder as
 * untrusted, so that none of its code runs. */
export async function inspect(options: {
  directory: string
  inline?: Input
  isTrusted?: false
}): Promise<Inspection> {
  const folder = realpathSync(options.directory)
  const worktree = Vcs.find(folder)?.worktree ?? folder
  if (options.isTrusted !== false) return (await read(worktree, options.inline)).inspection
  const reviewed = Reviewed.nothing(worktree)
  return combine(await readLayers({ reviewed, inline: options.inline }), false).inspection
}

/** Reload whenever a file of the configuration or the trust in the folder changes, until the instance is disposed. For
 * long-lived processes. */
export async function watch(): Promise<void> {
  const own = state()
  if (own.stopWatch) return
  const onChange = AsyncLocalStorage.bind(() => void reload())
  own.stopWatch = Promise.all([
    watchFiles(watchedFiles(), onChange),
    watchTrust(Instance.worktree, onChange),
  ]).then((stops) => () => Promise.all(stops.map((stop) => stop())))
  await own.stopWatch
  // Catches changes from before the first poll.
  if (own.loaded) await reload()
  else await get().catch(() => undefined)
}

/** Reload if a file or the trust in the folder has changed since the last call, or wait for the reload that another call
 * has begun. For a process that does not watch. */
export async function renew(): Promise<void> {
  const own = state()
  const before = own.stamp
  own.stamp = await readStamp(watchedFiles(), Instance.worktree)
  if (own.stamp !== before && own.loaded) await reload()
  else await own.reloading
}

function watchedFiles(): string[] {
  const { typescript, plugins, ...single } = configFiles(Instance.worktree)
  return [...Object.values(single), ...typescript, ...plugins].filter((file) => file !== undefined)
}

/** Reload, one at a time. A configuration that cannot be used is logged and changes nothing. */
export function reload(): Promise<void> {
  const own = state()
  const done = own.reloading.then(() => reloadOnce(own))
  own.reloading = done.catch(() => undefined)
  return done
}

async function reloadOnce(own: State): Promise<void> {
  const before = await own.loaded?.catch(() => undefined)
  let problem: string | undefined
  const next = await read(Instance.worktree).catch((error) => {
    problem = `the changed configuration is not used, the last good one stays: ${errorText(error)}`
    return before && lessTrusted(before)
  })
  if (own.end.signal.aborted) return
  own.problem = problem
  for (const line of problem?.split("\n") ?? []) Log.warn(line)
  if (!next) return
  own.loaded = Promise.resolve(next)
  adopt(own, next)
  if (isDeepStrictEqual(before?.inspection.config, next.inspection.config)) return
  Bus.publish(Changed, { sources: differing(before?.parts ?? [], next.parts) })
}

/** If trust was taken back, the rights that it gave end, even if the files cannot be read again. */
async function lessTrusted(before: Loaded): Promise<Loaded | undefined> {
  const { worktree } = Instance
  const reviewed = await Reviewed.of(worktree).catch(() => undefined)
  if (!before.trusted || reviewed?.isTrusted) return undefined
  const reason = reviewed?.refusal(worktree, "") ?? "the work tree is gone"
  return combine(withoutTrust(before.parts, worktree, reason), false)
}

function differing(before: Layer[], after: Layer[]): Source[] {
  const valueIn = (layers: Layer[], source: Source) =>
    layers.find((layer) => layer.source === source)?.value ?? {}
  const sources = new Set([...before, ...after].map(({ source }) => source))
  return [...sources].filter((source) => !isDeepStrictEqual(valueIn(before, source), valueIn(after, source)))
}

/** A failed first load is not cached, so that the next caller tries again. */
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

/** Report new problems, and refresh the remote layer if its URL has changed. */
function adopt(own: State, { inspection }: Loaded) {
  reportOnce(inspection)
  const { remote } = inspection.config
  if (own.end.signal.aborted || own.renewedUrl === remote?.url) return
  own.renewedUrl = remote?.url
  if (!remote) return
  const check = (bytes: Uint8Array) => usable(remoteLayer(remote.url, bytes).problems)
  own.renewing = renewCache({ remote, signal: own.end.signal, check }).then((renewed) => {
    if (renewed && !own.end.signal.aborted) void reload()
  })
}

function reportOnce({ warnings, ignored, layers }: Inspection) {
  const lines = ignored.map(({ source, key, reason }) => {
    const path = layers.find((layer) => layer.source === source)?.path
    return `${key} is ignored: ${reason} (${path ?? source})`
  })
  const now = new Set([...warnings, ...lines])
  const before = reported.get(Instance.worktree)
  for (const line of now) if (!before?.has(line)) Log.warn(line)
  if (now.size > 0) reported.set(Instance.worktree, now)
  else reported.delete(Instance.worktree)
}

async function read(worktree: string, inline?: Input): Promise<Loaded> {
  const reviewed = await Reviewed.of(worktree)
  return combine(await readLayers({ reviewed, inline }), reviewed.isTrusted)
}

function combine(parts: Layer[], trusted: boolean): Loaded {
  for (const part of parts) if (part.trusted) registerSecrets(part.value)
  usable(parts.flatMap((part) => part.problems))
  // Layers that are valid alone may have too many providers together.
  const merged = checkLayer({ schema: Info, value: mergeLayers(parts), source: "all layers together" })
  usable(merged.problems)
  const config = Info.parse(merged.value)
  const inspection: Inspection = {
    config,
    origins: findOrigins(config, parts),
    layers: parts.map(({ source, path, status }) => ({ source, ...(path ? { path } : {}), status })),
    warnings: parts.flatMap((part) => part.warnings),
    ignored: parts.flatMap((part) => part.ignored),
  }
  return { inspection, parts, trusted }
}

function usable(problems: Problem[]) {
  if (problems.length > 0) throw new Invalid(problems)
}
