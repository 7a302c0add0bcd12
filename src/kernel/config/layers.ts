// The layers of a configuration, lowest first, each read, checked and restricted on its own. Problems are collected,
// not thrown, so that a person sees all of them at once.
import { existsSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import * as Env from "#kernel/env.ts"
import * as Global from "#kernel/global.ts"
import { errorText } from "#util/error.ts"
import { JsoncError, parseJsonc } from "#util/jsonc.ts"
import { checkLayer, type Raw } from "./check.ts"
import { formatProblem, Invalid, type Problem } from "./invalid.ts"
import { readSmallFile } from "./read-file.ts"
import { readCache } from "./remote.ts"
import { type Ignored, ignoredFile, restrictUntrusted, withoutRemote } from "./restrict.ts"
import { Info, type Input, type Remote } from "./schema.ts"
import { shownUrl } from "./shown-url.ts"
import { importConfig, isTypeScript } from "./typescript.ts"

export type Source = "remote" | "global" | "project" | "typescript" | "environment" | "inline"
/** `pending`: a remote configuration that never arrived yet. */
export type Status = "loaded" | "missing" | "untrusted" | "cached" | "pending"
export type Layer = {
  source: Source
  /** The file, or the URL as it may be shown; missing for what has none. */
  path?: string
  status: Status
  /** Whether it is the person's own word; else its value is restricted, and no secrets are held for it. */
  trusted: boolean
  value: Raw
  warnings: string[]
  ignored: Ignored[]
  problems: Problem[]
}

/** The files that a configuration of this work tree is read from, whether they exist or not. */
export function configFiles(worktree: string) {
  const environment = ownVariable()
  return {
    global: join(Global.config(), "vitamin.jsonc"),
    project: join(worktree, ".vitamin", "config.jsonc"),
    typescript: [join(worktree, ".vitamin", "config.ts"), join(worktree, ".plaited", "config.ts")],
    environment: environment && !isInlineText(environment) ? resolve(environment) : undefined,
  }
}

export async function readLayers(options: {
  worktree: string
  trusted: boolean
  inline?: Input | undefined
}): Promise<Layer[]> {
  const { worktree, trusted } = options
  const files = configFiles(worktree)
  const [global, environment] = await Promise.all([
    readFileLayer("global", files.global),
    readEnvironment(files.environment),
  ])
  const layers = [
    await readRemote([global, environment]),
    global,
    await readProject(files.project, trusted ? undefined : worktree),
    await readTypeScript({ worktree, paths: files.typescript, trusted }),
    environment,
    options.inline && ownRemoteOnly(fromValue("inline", options.inline)),
  ]
  return layers.filter((layer) => layer !== undefined)
}

/** The same layers as they would be in an untrusted folder. */
export function withoutTrust(layers: Layer[], worktree: string): Layer[] {
  return layers.map((layer) => {
    if (layer.source === "project") return restricted(layer)
    const isFile = layer.source === "typescript" && layer.path && layer.status !== "missing"
    return isFile ? notLoaded(layer.path!, worktree) : layer
  })
}

/** A text of the remote server as a layer. */
export function remoteLayer(url: string, bytes: Uint8Array): Layer {
  const path = shownUrl(url)
  return ownRemoteOnly({ ...fromText({ source: "remote", path }, bytes, path), status: "cached" })
}

/** Only what was kept of it: the answer of the server itself is never waited for. */
async function readRemote(own: (Layer | undefined)[]): Promise<Layer | undefined> {
  if (own.some((layer) => layer && layer.problems.length > 0)) return undefined
  const url = own.map((layer) => layer?.value.remote as Remote | undefined).findLast(Boolean)?.url
  if (!url) return undefined
  const bytes = await readCache(url)
  const nothing: Layer = { ...empty("remote", shownUrl(url)), status: "pending" }
  if (!bytes) return nothing
  const layer = remoteLayer(url, bytes)
  if (layer.problems.length === 0) return layer
  const warnings = layer.problems.map((problem) => `the kept copy is not used: ${formatProblem(problem)}`)
  return { ...nothing, warnings }
}

/** With `root` the folder is not trusted, and the file must really be below it. */
async function readProject(path: string, root: string | undefined): Promise<Layer> {
  const layer = ownRemoteOnly(await readFileLayer("project", path, root))
  return root === undefined ? layer : restricted(layer)
}

async function readTypeScript(options: {
  worktree: string
  paths: string[]
  trusted: boolean
}): Promise<Layer> {
  const path = options.paths.find((candidate) => existsSync(candidate))
  if (!path) return { ...empty("typescript", options.paths[0]), status: "missing" }
  if (options.trusted) return ownRemoteOnly(await readFileLayer("typescript", path))
  return notLoaded(path, options.worktree)
}

function restricted(layer: Layer): Layer {
  // What is not valid was not checked either, so nothing of it stays.
  if (layer.problems.length > 0) return { ...layer, trusted: false, value: {} }
  const { value, ignored } = restrictUntrusted(layer.value, layer.source)
  return { ...layer, trusted: false, value, ignored: [...layer.ignored, ...ignored] }
}

function notLoaded(path: string, worktree: string): Layer {
  const ignored = [ignoredFile(relative(worktree, path), "typescript")]
  return { ...empty("typescript", path), trusted: false, status: "untrusted", ignored }
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

async function readFileLayer(source: Source, path: string, root?: string): Promise<Layer> {
  const layer = empty(source, path)
  try {
    const bytes = await readSmallFile(path, root)
    if (!bytes) return { ...layer, status: "missing" }
    if (!isTypeScript(path)) return fromText({ source, path }, bytes, path)
    return { ...fromValue(source, await importConfig(path, bytes), path), path }
  } catch (error) {
    if (error instanceof Invalid) return broken(layer, ...error.data.problems)
    return broken(layer, { source: path, path: "", message: `the file cannot be read: ${errorText(error)}` })
  }
}

function fromText(of: { source: Source; path?: string }, text: Uint8Array | string, name: string): Layer {
  const layer = empty(of.source, of.path)
  try {
    const { value, locate } = parseJsonc(text, name)
    return { ...layer, ...checkLayer({ schema: Info, value, source: name, locate }) }
  } catch (error) {
    if (error instanceof JsoncError) return broken(layer, { ...error.data, path: "", message: error.reason })
    throw error
  }
}

function fromValue(source: Source, value: unknown, name: string = source): Layer {
  return { ...empty(source), ...checkLayer({ schema: Info, value, source: name }) }
}

function ownRemoteOnly(layer: Layer): Layer {
  const { value, ignored } = withoutRemote(layer.value, layer.source)
  return { ...layer, value, ignored: [...layer.ignored, ...ignored] }
}

function broken(layer: Layer, ...problems: Problem[]): Layer {
  return { ...layer, problems }
}

function empty(source: Source, path?: string): Layer {
  const nothing = { value: {}, warnings: [], ignored: [], problems: [] }
  return { source, ...(path ? { path } : {}), status: "loaded", trusted: true, ...nothing }
}

/** An empty variable is how some shells and service files say that there is none. */
function ownVariable(): string | undefined {
  const text = Env.get("VITAMIN_CONFIG")
  return text?.trim() ? text : undefined
}

function isInlineText(text: string): boolean {
  return text.trimStart().startsWith("{")
}
