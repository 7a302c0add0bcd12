// The layers of a configuration, lowest first, each read, checked and restricted on its own.
import { join, resolve } from "node:path"
import * as Env from "#kernel/process/env.ts"
import * as Global from "#kernel/process/global.ts"
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import { formatProblem } from "#kernel/schema/invalid.ts"
import type { Input, Remote } from "#kernel/schema/schema.ts"
import { shownUrl } from "#kernel/schema/shown-url.ts"
import { inline as inlineOfProcess } from "./inline.ts"
import { broken, dropOwn, empty, fromText, fromValue, type Layer, readFileLayer } from "./layer.ts"
import { readProject, readTypeScript } from "./project-layers.ts"
import { readCache } from "./remote.ts"

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
  reviewed: Reviewed
  inline?: Input | undefined
}): Promise<Layer[]> {
  const { reviewed, inline = inlineOfProcess() } = options
  const files = configFiles(reviewed.root)
  const [global, environment] = await Promise.all([
    readFileLayer("global", files.global),
    readEnvironment(files.environment),
  ])
  const layers = [
    await readRemote([global, environment]),
    global,
    await readProject(files.project, reviewed),
    await readTypeScript(files.typescript, reviewed),
    environment,
    inline && dropOwn(fromValue("inline", inline)),
  ]
  return layers.filter((layer) => layer !== undefined)
}

/** A text of the remote server as a layer. */
export function remoteLayer(url: string, bytes: Uint8Array): Layer {
  const path = shownUrl(url)
  return dropOwn({ ...fromText({ source: "remote", path }, bytes, path), status: "cached" })
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

/** An empty variable is how some shells and service files say that there is none. */
function ownVariable(): string | undefined {
  const text = Env.get("VITAMIN_CONFIG")
  return text?.trim() ? text : undefined
}

function isInlineText(text: string): boolean {
  return text.trimStart().startsWith("{")
}
