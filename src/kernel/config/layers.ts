// Reads the layers of a configuration, lowest first; checks and restricts each; and merges them: objects by key, lists
// are replaced, permission rules are appended. The inline layer holds settings of the command line. They are checked
// before any file is read, so that a mistake stops the command.
import { join, resolve } from "node:path"
import * as Env from "#kernel/process/env.ts"
import * as Global from "#kernel/process/global.ts"
import { isPluginFile, pluginFiles } from "#kernel/reviewed/places.ts"
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import { checkLayer, isPlain, type Raw } from "#kernel/schema/check.ts"
import { formatPath, formatProblem, parsePath } from "#kernel/schema/invalid.ts"
import { Info, type Input, type Remote } from "#kernel/schema/schema.ts"
import { shownUrl } from "#kernel/schema/secrets.ts"
import {
  broken,
  empty,
  fromText,
  fromValue,
  type Layer,
  readFileLayer,
  readProject,
  readTypeScript,
  type Source,
  withoutOwn,
} from "./layer.ts"
import { readCache } from "./remote.ts"
import { restrictOwn } from "./restrict.ts"

/** Key path of every single setting → the layer that it came from, or "default". */
export type Origins = Record<string, string>
type Values = { source: string; value: Raw }

/** Settings of the command line, for the whole process. */
let inlineLayer: Raw | undefined
/** The person's layers, if another process has read them. */
let given: { source: Source; value: Raw }[] | undefined

/** Take the person's layers (remote, global, environment, inline) from another process instead of this machine's files. */
export function setGiven(layers: { source: Source; value: Raw }[]): void {
  given = layers
}

/** The files that a configuration of this work tree is read from, whether they exist or not. */
export function configFiles(worktree: string) {
  const environment = ownVariable()
  return {
    global: join(Global.config(), "vitamin.jsonc"),
    project: join(worktree, ".vitamin", "config.jsonc"),
    typescript: [join(worktree, ".vitamin", "config.ts"), join(worktree, ".plaited", "config.ts")],
    plugins: pluginFiles(worktree),
    environment: environment && !isInlineText(environment) ? resolve(environment) : undefined,
  }
}

export async function readLayers(options: {
  reviewed: Reviewed
  inline?: Input | undefined
}): Promise<Layer[]> {
  const { reviewed, inline = inlineLayer } = options
  const files = configFiles(reviewed.root)
  if (given) return readGiven(given, { files, reviewed })
  const [global, environment] = await Promise.all([
    readFileLayer("global", files.global),
    readEnvironment(files.environment),
  ])
  const layers = [
    await readRemote([global, environment]),
    global,
    await readProject(files.project, reviewed),
    await readTypeScript(files.typescript, reviewed),
    ...(await readPlugins(files.plugins, reviewed)),
    environment,
    inline && withoutOwn(fromValue("inline", inline)),
  ]
  return layers.filter((layer) => layer !== undefined)
}

async function readGiven(
  own: NonNullable<typeof given>,
  { files, reviewed }: { files: ReturnType<typeof configFiles>; reviewed: Reviewed },
): Promise<Layer[]> {
  const layers = (...sources: Source[]) =>
    own.filter(({ source }) => sources.includes(source)).map(({ source, value }) => fromValue(source, value))
  return [
    ...layers("remote", "global"),
    await readProject(files.project, reviewed),
    await readTypeScript(files.typescript, reviewed),
    ...(await readPlugins(files.plugins, reviewed)),
    ...layers("environment", "inline"),
  ]
}

/** Each file is a layer of its own, in the order of the names. Removed ones keep their deny and ask rules. */
async function readPlugins(present: string[], reviewed: Reviewed): Promise<Layer[]> {
  const known = reviewed.paths().filter((path) => isPluginFile(path, reviewed.root))
  const layers: Layer[] = []
  for (const file of new Set([...present, ...known].sort()))
    layers.push(await readTypeScript([file], reviewed))
  return layers
}

/** The answer of a remote server as a layer. */
export function remoteLayer(url: string, bytes: Uint8Array): Layer {
  const path = shownUrl(url)
  return withoutOwn({ ...fromText({ source: "remote", path }, bytes, path), status: "cached" })
}

/** Only the cached copy: a start never waits for the server. */
async function readRemote(own: (Layer | undefined)[]): Promise<Layer | undefined> {
  if (own.some((layer) => layer && layer.problems.length > 0)) return undefined
  const url = own.map((layer) => layer?.value.remote as Remote | undefined).findLast(Boolean)?.url
  if (!url) return undefined
  const bytes = await readCache(url)
  const nothing: Layer = { ...empty("remote", shownUrl(url)), status: "pending" }
  if (!bytes) return nothing
  const layer = remoteLayer(url, bytes)
  if (layer.problems.length === 0) return layer
  const warnings = layer.problems.map((problem) => `the cached copy is not used: ${formatProblem(problem)}`)
  return { ...nothing, warnings }
}

async function readEnvironment(file: string | undefined): Promise<Layer | undefined> {
  const text = ownVariable()
  if (text === undefined) return undefined
  if (!file) return fromText({ source: "environment" }, text, "VITAMIN_CONFIG")
  const layer = await readFileLayer("environment", file)
  if (layer.status !== "missing") return layer
  const message = `the file that VITAMIN_CONFIG names does not exist${hint(text)}`
  return broken(layer, { source: file, path: "", message })
}

function hint(path: string): string {
  if (path.startsWith("~")) return '; "~" is not expanded here, write the whole path'
  return /^file:/i.test(path) ? "; a path is expected, not a URL" : ""
}

/** Some shells and service files unset a variable by making it empty. */
function ownVariable(): string | undefined {
  const text = Env.get("VITAMIN_CONFIG")
  return text?.trim() ? text : undefined
}

function isInlineText(text: string): boolean {
  return text.trimStart().startsWith("{")
}

/** Sets the inline layer from settings such as `model=openai/gpt-5` or `permission=[…]`. A value is JSON if it fits the key
 * as JSON, else text. Returns what is wrong with the first bad setting. */
export function setInline(settings: readonly string[]): string | undefined {
  const layers: Raw[] = []
  for (const setting of settings) {
    const read = readSetting(setting)
    if (typeof read === "string") return read
    layers.push(read)
  }
  inlineLayer = mergeLayers(layers.map((value) => ({ source: "inline", value })))
  return undefined
}

function readSetting(setting: string): Raw | string {
  const [, key = "", text = ""] = /^([^=]*?)\s*=(.*)$/s.exec(setting) ?? []
  const path = parsePath(key.trim())
  if (!path)
    return `${JSON.stringify(setting.split("=", 1)[0])} is not of the form key=value, such as model=openai/gpt-5`
  if (path.some((step) => typeof step === "number"))
    return `${key}: an item of a list cannot be set; give the whole list as JSON: ${path[0]}=[…]`
  const [json, plain] = [jsonOf(text), text].map((value) => check(path as string[], value))
  const [read] = json!.problems.length > 0 && plain!.problems.length === 0 ? [plain!] : [json!]
  const { ignored } = restrictOwn(read.value, "inline")
  const problem = read.problems.map(formatProblem)[0] ?? ignored.map((one) => `${one.key}: ${one.reason}`)[0]
  return problem ?? read.value
}

function check(path: string[], value: unknown) {
  const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  return checkLayer({ schema: Info, value: nested, source: "", refuseUnknown: true })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function mergeLayers(layers: Values[]): Raw {
  const merged: Raw = {}
  for (const { value } of layers) mergeInto(merged, value)
  if (Object.hasOwn(merged, "permission")) merged.permission = layers.flatMap(rulesOf)
  return merged
}

/** The origin of each setting: the highest layer that has it. */
export function findOrigins(config: Raw, layers: Values[]): Origins {
  const origins: Origins = {}
  const visit = (value: unknown, path: string[]) => {
    if (isPlain(value) && (Object.keys(value).length > 0 || path.length === 0))
      for (const [name, item] of Object.entries(value)) visit(item, [...path, name])
    else origins[formatPath(path)] = layers.findLast((layer) => has(layer.value, path))?.source ?? "default"
  }
  const { permission, ...rest } = config
  visit(rest, [])
  const ruleSources = layers.flatMap((layer) => rulesOf(layer).map(() => layer.source))
  for (const [i, source] of ruleSources.entries()) origins[formatPath(["permission", i])] = source
  return origins
}

function mergeInto(target: Raw, from: Raw) {
  for (const [name, item] of Object.entries(from)) {
    if (name === "__proto__") continue
    if (!isPlain(item)) {
      target[name] = item
      continue
    }
    // A new object, because merging must not change a layer.
    const below = Object.hasOwn(target, name) ? target[name] : undefined
    const own = isPlain(below) ? below : {}
    target[name] = own
    mergeInto(own, item)
  }
}

function has(value: unknown, path: string[]): boolean {
  for (const step of path) {
    if (!isPlain(value) || !Object.hasOwn(value, step)) return false
    value = value[step]
  }
  return true
}

function rulesOf({ value }: Values): unknown[] {
  return Array.isArray(value.permission) ? value.permission : []
}
