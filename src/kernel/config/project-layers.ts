// The layers of a project: its JSONC and TypeScript files. A reviewed file counts fully. Of any other file only the
// settings that an untrusted folder may have count, and the deny and ask rules that were last trusted.
import { existsSync } from "node:fs"
import { relative } from "node:path"
import { Unreviewed } from "#kernel/reviewed/guard-imports.ts"
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import type { Rule } from "#kernel/schema/schema.ts"
import {
  broken,
  dropOwn,
  empty,
  fromText,
  importLayer,
  type Layer,
  readContent,
  readFileLayer,
} from "./layer.ts"
import { type Ignored, restrictUntrusted } from "./restrict.ts"

/** A reviewed file counts fully; any other only as far as an untrusted folder may go, plus its last trusted deny and
 * ask rules. */
export async function readProject(path: string, reviewed: Reviewed): Promise<Layer> {
  if (!reviewed.isTrusted) return readUntrusted(path, reviewed, reviewed.refusal(path, ""))
  const read = await readContent(path)
  if ("problem" in read) return broken(empty("project", path), read.problem)
  const { bytes } = read
  if (!bytes) return withNarrowing({ ...empty("project", path), status: "missing" }, [path], reviewed)
  const reason = reviewed.refusal(path, bytes)
  if (reason) return withNarrowing(await readUntrusted(path, reviewed, reason), [path], reviewed)
  const layer = dropOwn(fromText({ source: "project", path }, bytes, path))
  if (layer.problems.length === 0) await reviewed.keepNarrowing(path, bytes, { "": narrowingOf(layer) })
  return layer
}

async function readUntrusted(path: string, { root }: Reviewed, reason = ""): Promise<Layer> {
  return restricted(dropOwn(await readFileLayer("project", path, root)), reason)
}

/** The first reviewed file counts. One that is not reviewed does not hide those after it. */
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
    const layer = dropOwn(await importLayer("typescript", path, bytes, reviewed))
    if (layer.problems.length === 0) await reviewed.keepNarrowing(path, bytes, { "": narrowingOf(layer) })
    return layer
  } catch (error) {
    if (error instanceof Unreviewed) return refuse(`it imports ${error.message}`)
    throw error
  }
}

/** The rules that narrow rights and were last trusted. Deny rules come last, so that nothing in the layer lifts them; an ask
 * rule lifts no deny rule of a file that is not reviewed, and no allow rule lifts an ask rule. */
function withNarrowing(layer: Layer, paths: string[], reviewed: Reviewed): Layer {
  const kept = paths.flatMap((path) => reviewed.narrowing(path)[""] ?? [])
  if (kept.length === 0) return layer
  const own = Array.isArray(layer.value.permission) ? layer.value.permission : []
  const asks = kept.filter(({ action }) => action === "ask")
  const denies = kept.filter(({ action }) => action === "deny")
  const isGone = layer.status === "missing"
  const warning = `${layer.path} was removed since it was reviewed; its deny and ask rules stay until "vitamin trust" has shown it`
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
  // Invalid content was not reviewed, so nothing of it stays.
  if (layer.problems.length > 0) return { ...layer, trusted: false, value: {} }
  const { value, ignored } = restrictUntrusted(layer.value, layer.source, reason)
  return { ...layer, trusted: false, value, ignored: [...layer.ignored, ...ignored] }
}

function notLoaded(path: string, worktree: string, reason: string): Layer {
  const ignored = [{ source: "typescript", key: relative(worktree, path), reason }]
  return { ...empty("typescript", path), trusted: false, status: "untrusted", ignored }
}

/** The same layers without trust in the folder, for this reason. */
export function withoutTrust(layers: Layer[], worktree: string, reason: string): Layer[] {
  return layers.map((layer) => {
    if (layer.source === "project") return restricted(layer, reason)
    const isFile = layer.source === "typescript" && layer.path && layer.status !== "missing"
    return isFile ? notLoaded(layer.path!, worktree, reason) : layer
  })
}
