// One layer of a configuration: the validated content of a file or a value. Problems are collected, not thrown, so that
// a person sees all of them at once. A reviewed file of a project applies in full. Of any other file of a project, only
// settings that an untrusted folder may have apply, and its last reviewed deny and ask rules stay in force.
import { existsSync } from "node:fs"
import { relative } from "node:path"
import { Unreviewed } from "#kernel/reviewed/guard-imports.ts"
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import { checkLayer, type Raw } from "#kernel/schema/check.ts"
import { Invalid, type Problem } from "#kernel/schema/invalid.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { Info, type Rule } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { JsoncError, parseJsonc } from "#util/parse/jsonc.ts"
import { type Ignored, restrictOwn, restrictUntrusted } from "./restrict.ts"
import { importConfig, isTypeScript } from "./typescript.ts"

export type Source = "remote" | "global" | "project" | "typescript" | "environment" | "inline"
/** `pending`: a remote configuration that has not been fetched yet. */
export type Status = "loaded" | "missing" | "untrusted" | "cached" | "pending"
export type Layer = {
  source: Source
  /** The file, or the URL in a form that may be shown; undefined for other layers. */
  path?: string
  status: Status
  /** Whether the person wrote or reviewed it; otherwise its value is restricted, and its secrets are not redacted. */
  trusted: boolean
  value: Raw
  warnings: string[]
  ignored: Ignored[]
  problems: Problem[]
}

export async function readFileLayer(source: Source, path: string, root?: string): Promise<Layer> {
  const layer = empty(source, path)
  const read = await readContent(path, root)
  if ("problem" in read) return broken(layer, read.problem)
  if (!read.bytes) return { ...layer, status: "missing" }
  if (isTypeScript(path)) return importLayer(source, path, read.bytes)
  return fromText({ source, path }, read.bytes, path)
}

async function readContent(
  path: string,
  root?: string,
): Promise<{ bytes?: Buffer | undefined } | { problem: Problem }> {
  try {
    return { bytes: await readSmallFile(path, root) }
  } catch (error) {
    return { problem: { source: path, path: "", message: `the file cannot be read: ${errorText(error)}` } }
  }
}

async function importLayer(source: Source, path: string, bytes: Buffer, reviewed?: Reviewed): Promise<Layer> {
  try {
    return { ...fromValue(source, await importConfig(path, bytes, { reviewed }), path), path }
  } catch (error) {
    if (error instanceof Invalid) return broken(empty(source, path), ...error.data.problems)
    throw error
  }
}

export function fromText(
  of: { source: Source; path?: string },
  text: Uint8Array | string,
  name: string,
): Layer {
  const layer = empty(of.source, of.path)
  try {
    const { value, locate } = parseJsonc(text, name)
    return { ...layer, ...checkLayer({ schema: Info, value, source: name, locate }) }
  } catch (error) {
    if (error instanceof JsoncError) return broken(layer, { ...error.data, path: "", message: error.reason })
    throw error
  }
}

export function fromValue(source: Source, value: unknown, name: string = source): Layer {
  return { ...empty(source), ...checkLayer({ schema: Info, value, source: name }) }
}

/** The layer without the settings that only the person's own files may have. */
export function withoutOwn(layer: Layer): Layer {
  const { value, ignored } = restrictOwn(layer.value, layer.source)
  return { ...layer, value, ignored: [...layer.ignored, ...ignored] }
}

export function broken(layer: Layer, ...problems: Problem[]): Layer {
  return { ...layer, problems }
}

export function empty(source: Source, path?: string): Layer {
  const nothing = { value: {}, warnings: [], ignored: [], problems: [] }
  return { source, ...(path ? { path } : {}), status: "loaded", trusted: true, ...nothing }
}

/** The JSONC file of a project. */
export async function readProject(path: string, reviewed: Reviewed): Promise<Layer> {
  if (!reviewed.isTrusted) return readUntrusted(path, reviewed, reviewed.refusal(path, ""))
  const read = await readContent(path)
  if ("problem" in read) return broken(empty("project", path), read.problem)
  const { bytes } = read
  if (!bytes) return withNarrowing({ ...empty("project", path), status: "missing" }, [path], reviewed)
  const reason = reviewed.refusal(path, bytes)
  if (reason) return withNarrowing(await readUntrusted(path, reviewed, reason), [path], reviewed)
  const layer = withoutOwn(fromText({ source: "project", path }, bytes, path))
  if (layer.problems.length === 0) await reviewed.keepNarrowing(path, bytes, { "": narrowingOf(layer) })
  return layer
}

async function readUntrusted(path: string, { root }: Reviewed, reason = ""): Promise<Layer> {
  return restricted(withoutOwn(await readFileLayer("project", path, root)), reason)
}

/** The TypeScript file of a project: the first one that is reviewed. */
export async function readTypeScript(paths: string[], reviewed: Reviewed): Promise<Layer> {
  const ignored: Ignored[] = []
  let first: string | undefined
  for (const path of paths) {
    if (!existsSync(path)) continue
    first ??= path
    const found = await readModule(path, reviewed)
    if ("value" in found) {
      const layer = { ...found, ignored: [...found.ignored, ...ignored] }
      const others = paths.filter((other) => other !== path)
      return withNarrowing(layer, others, reviewed)
    }
    ignored.push(...found.ignored)
  }
  const status = first ? "untrusted" : "missing"
  const layer: Layer = { ...empty("typescript", first ?? paths[0]), trusted: !first, status, ignored }
  return withNarrowing(layer, paths, reviewed)
}

async function readModule(path: string, reviewed: Reviewed): Promise<Layer | { ignored: Ignored[] }> {
  const refuse = (reason: string) => ({ ignored: notLoaded(path, reviewed.root, reason).ignored })
  const read = reviewed.isTrusted ? await readContent(path) : {}
  if ("problem" in read) return broken(empty("typescript", path), read.problem)
  const bytes = read.bytes ?? Buffer.alloc(0)
  const reason = reviewed.refusal(path, bytes)
  if (reason) return refuse(reason)
  try {
    const layer = withoutOwn(await importLayer("typescript", path, bytes, reviewed))
    if (layer.problems.length === 0) await reviewed.keepNarrowing(path, bytes, { "": narrowingOf(layer) })
    return layer
  } catch (error) {
    if (error instanceof Unreviewed) return refuse(`it imports ${error.message}`)
    throw error
  }
}

/** Adds the last reviewed deny and ask rules of changed or removed files. Of matching rules the last one wins: deny rules
 * come last, so nothing overrides them. In an untrusted layer ask rules come first, so that they override none of its
 * deny rules. */
function withNarrowing(layer: Layer, paths: string[], reviewed: Reviewed): Layer {
  const kept = paths.flatMap((path) => reviewed.narrowing(path)[""] ?? [])
  if (kept.length === 0) return layer
  const own = Array.isArray(layer.value.permission) ? layer.value.permission : []
  const asks = kept.filter(({ action }) => action === "ask")
  const denies = kept.filter(({ action }) => action === "deny")
  const isGone = layer.status === "missing"
  const warning = `${layer.path} was removed since it was reviewed; its deny and ask rules stay until "${ownCommand} trust" has shown it`
  const others = layer.status === "loaded" && layer.trusted ? [...own, ...asks] : [...asks, ...own]
  return {
    ...layer,
    value: { ...layer.value, permission: [...others, ...denies] },
    warnings: [...layer.warnings, ...(isGone ? [warning] : [])],
  }
}

function narrowingOf({ value }: Layer): Rule[] {
  const rules = (value.permission ?? []) as Rule[]
  return rules.filter(({ action }) => action !== "allow")
}

function restricted(layer: Layer, reason: string): Layer {
  // Nothing of an untrusted file is used if it is invalid.
  if (layer.problems.length > 0) return { ...layer, trusted: false, value: {} }
  const { value, ignored } = restrictUntrusted(layer.value, layer.source, reason)
  return { ...layer, trusted: false, value, ignored: [...layer.ignored, ...ignored] }
}

function notLoaded(path: string, worktree: string, reason: string): Layer {
  const ignored = [{ source: "typescript", key: relative(worktree, path), reason }]
  return { ...empty("typescript", path), trusted: false, status: "untrusted", ignored }
}

/** The layers after trust in the folder was taken back. `reason` is reported for each setting that no longer applies. */
export function withoutTrust(layers: Layer[], worktree: string, reason: string): Layer[] {
  return layers.map((layer) => {
    if (layer.source === "project") return restricted(layer, reason)
    const isFile = layer.source === "typescript" && layer.path && layer.status !== "missing"
    return isFile ? notLoaded(layer.path!, worktree, reason) : layer
  })
}
