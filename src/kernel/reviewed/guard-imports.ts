// Restricts what project code may import: module hooks compare the content of each project file with what a person has
// reviewed. Node compiles the same bytes, so nothing can be swapped in between. Packages (node_modules) and files outside
// the work tree are not covered.
import { registerHooks } from "node:module"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { NamedError } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import * as Reviewed from "./reviewed.ts"

export class Unreviewed extends NamedError {
  constructor(path: string, reason: string) {
    super("Trust.Unreviewed", `${path}: ${reason}`, { path, reason })
  }
}

const name = "vitamin-review"
/** Reviews by the mark in the URL of a module. */
const guards = new Map<string, Reviewed.Reviewed>()
/** CommonJS modules, and modules that they require, have no URL that could carry the mark. */
const commonJs = new Map<string, Reviewed.Reviewed>()
const required = new Map<string, Reviewed.Reviewed>()
let hooked = false
/** How often a module was refused. Node remembers a module whose import failed, so the next attempt needs another URL. */
let refusals = 0

/** The URL that imports a module with checks: the module and all that it imports from its project must be reviewed,
 * except for `own`, the modules of this program. The URL changes with the trusted content, so that Node's cache returns
 * nothing outdated. */
export function guardedUrl(url: string, reviewed: Reviewed.Reviewed, own: ReadonlySet<string>): string {
  register(own)
  const mark = Reviewed.hashOf(Buffer.from(`${reviewed.root}\0${reviewed.stamp}\0${refusals}`)).slice(0, 16)
  guards.set(mark, reviewed)
  return withMark(url, mark)
}

/** The hooks stay for the life of the process: code may import lazily. */
function register(own: ReadonlySet<string>) {
  if (hooked) return
  hooked = true
  registerHooks({
    resolve(specifier, context, next) {
      const result = next(specifier, context)
      const { parentURL = "" } = context
      const mark = markOf(parentURL)
      const reviewed = mark === undefined ? commonJs.get(withoutQuery(parentURL)) : guards.get(mark)
      if (!reviewed || own.has(result.url) || markOf(result.url)) return result
      if (!isProjects(result.url, reviewed.root)) return result
      if (mark !== undefined) return { ...result, url: withMark(result.url, mark) }
      required.set(result.url, reviewed)
      return result
    },
    load(url, context, next) {
      const mark = markOf(url)
      const reviewed = mark === undefined ? required.get(url) : guards.get(mark)
      if (!reviewed) return next(url, context)
      const result = next(url, context)
      refuse(url, result.source, reviewed)
      if (result.format?.startsWith("commonjs")) commonJs.set(withoutQuery(url), reviewed)
      return result
    },
  })
}

function refuse(url: string, source: unknown, reviewed: Reviewed.Reviewed): void {
  const path = fileURLToPath(withoutQuery(url))
  const shown = relative(reviewed.root, path)
  const content = bytesOf(source)
  const reason = content
    ? reviewed.refusal(path, content)
    : "its content cannot be compared with what was reviewed"
  if (!reason) return
  refusals++
  throw new Unreviewed(shown, reason)
}

function bytesOf(source: unknown): Uint8Array | undefined {
  if (typeof source === "string") return Buffer.from(source)
  if (source instanceof ArrayBuffer) return new Uint8Array(source)
  return source instanceof Uint8Array ? source : undefined
}

function isProjects(url: string, root: string): boolean {
  if (!url.startsWith("file:")) return false
  const path = fileURLToPath(withoutQuery(url))
  return isInside(root, path) && !relative(root, path).split("/").includes("node_modules")
}

function withMark(url: string, mark: string): string {
  return `${url}${url.includes("?") ? "&" : "?"}${name}=${mark}`
}

function markOf(url: string): string | undefined {
  return new RegExp(`[?&]${name}=(\\w+)`).exec(url)?.[1]
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*/, "")
}
