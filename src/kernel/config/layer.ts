// One layer of a configuration: the validated content of a file or a value. Problems are collected, not thrown, so
// that a person sees all of them at once.
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import { checkLayer, type Raw } from "#kernel/schema/check.ts"
import { Invalid, type Problem } from "#kernel/schema/invalid.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { Info } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"
import { JsoncError, parseJsonc } from "#util/parse/jsonc.ts"
import { type Ignored, withoutOwn } from "./restrict.ts"
import { importConfig, isTypeScript } from "./typescript.ts"

export type Source = "remote" | "global" | "project" | "typescript" | "environment" | "inline"
/** `pending`: a remote configuration that never arrived yet. */
export type Status = "loaded" | "missing" | "untrusted" | "cached" | "pending"
export type Layer = {
  source: Source
  /** The file, or the URL in a form that may be shown; undefined for other layers. */
  path?: string
  status: Status
  /** Whether the person wrote it; otherwise its value is restricted, and its secrets are not redacted. */
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

export async function readContent(
  path: string,
  root?: string,
): Promise<{ bytes?: Buffer | undefined } | { problem: Problem }> {
  try {
    return { bytes: await readSmallFile(path, root) }
  } catch (error) {
    return { problem: { source: path, path: "", message: `the file cannot be read: ${errorText(error)}` } }
  }
}

export async function importLayer(
  source: Source,
  path: string,
  bytes: Buffer,
  reviewed?: Reviewed,
): Promise<Layer> {
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

export function dropOwn(layer: Layer): Layer {
  const { value, ignored } = withoutOwn(layer.value, layer.source)
  return { ...layer, value, ignored: [...layer.ignored, ...ignored] }
}

export function broken(layer: Layer, ...problems: Problem[]): Layer {
  return { ...layer, problems }
}

export function empty(source: Source, path?: string): Layer {
  const nothing = { value: {}, warnings: [], ignored: [], problems: [] }
  return { source, ...(path ? { path } : {}), status: "loaded", trusted: true, ...nothing }
}
