// Loads configuration that is written in TypeScript. In the file, "vitamin" resolves to this program, so that it works in a
// folder without node_modules. Callers pass only trusted files; what a file of a project imports from the project must be
// reviewed too.
import { createHash } from "node:crypto"
import { registerHooks } from "node:module"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Instance } from "#kernel/instance.ts"
import { useProxy } from "#kernel/process/guest.ts"
import * as Log from "#kernel/process/log.ts"
import { guardedUrl, Unreviewed } from "#kernel/reviewed/guard-imports.ts"
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import { checkLayer } from "#kernel/schema/check.ts"
import { Invalid } from "#kernel/schema/invalid.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { type Input, Standalone } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"

/** The public module of this program: the source, or its place in the bundle. */
export const publicModule = ownModule("../../index.ts", "./index.js")
const behavioral = ownModule("../behavioral/behavioral.ts", "./behavioral.js")

/** Modules of this program by the name of the package, its short form, and the name in older documents. */
const ownModules = new Map([
  ["@vitamin-agent/vitamin", publicModule],
  ["@vitamin-agent/vitamin/agent", publicModule],
  ["@vitamin-agent/vitamin/behavioral", behavioral],
  ["vitamin", publicModule],
  ["vitamin/agent", publicModule],
  ["vitamin/behavioral", behavioral],
  ["plaited/agent", publicModule],
])
const mark = "?vitamin-config="
const limit = 10_000

/** `reviewed`: for a file of a project. Without it the file is the person's own. */
type Options = {
  reviewed?: Reviewed | undefined
  timeout?: number | undefined
  cacheKey?: number | undefined
}

let hooked = false
let instances = 0
/** Tools that a config defines belong to the instance that reads it, so each instance runs the file once. */
const instance = Instance.state(() => ({ number: ++instances }))

/** Returns its argument; TypeScript checks its type. */
export function defineConfig(config: Input): Input {
  return config
}

/** Read one TypeScript config by itself: `agent` is required, defaults are filled in, hooks stay functions. */
export async function loadConfig(path: string): Promise<Standalone> {
  const file = resolve(path)
  const bytes = await readSmallFile(file)
  if (!bytes) throw new Invalid([{ source: file, path: "", message: "the file does not exist" }])
  const { value, warnings, problems } = checkLayer({
    schema: Standalone,
    value: await importConfig(file, bytes),
    source: file,
  })
  for (const warning of warnings) Log.warn(warning)
  if (problems.length > 0) throw new Invalid(problems)
  return Standalone.parse(value)
}

/** The default export of a TypeScript file whose content is `bytes`. */
export async function importConfig(file: string, bytes: Uint8Array, options: Options = {}): Promise<unknown> {
  const cacheKey = Instance.isProvided ? instance().number : undefined
  const { default: config } = await importModule(file, bytes, { ...options, cacheKey })
  if (config !== undefined) return config
  const message = "there is no default export; write export default defineConfig({ … })"
  throw new Invalid([{ source: file, path: "", message }])
}

/** The exports of a TypeScript file whose content is `bytes`. New content, or another `cacheKey`, is a new module.
 * Throws `Unreviewed` if it imports a project file that is not reviewed. */
export async function importModule(
  file: string,
  bytes: Uint8Array,
  { reviewed, timeout = limit, cacheKey }: Options = {},
): Promise<Record<string, unknown>> {
  registerOwnNames()
  useProxy()
  const sum = createHash("sha256").update(bytes).digest("hex").slice(0, 16)
  const plain = `${pathToFileURL(file).href}${mark}${sum}${cacheKey === undefined ? "" : `-${cacheKey}`}`
  const url = reviewed ? guardedUrl(plain, reviewed, new Set(ownModules.values())) : plain
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`the import took longer than ${timeout / 1000} s`)
      timer = setTimeout(() => reject(error), timeout)
    })
    return await Promise.race([import(url), late])
  } catch (error) {
    if (error instanceof Unreviewed) throw error
    const message = errorText(error).trim().split("\n")[0] || "the file threw an error"
    throw new Invalid([{ source: file, ...placeIn(error, url), path: "", message }], { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** The hook stays for the life of the process: a config may import lazily, and agents are loaded the same way. */
function registerOwnNames() {
  if (hooked) return
  hooked = true
  registerHooks({
    resolve(specifier, context, next) {
      const own = ownModules.get(specifier)
      if (own) return { url: own, shortCircuit: true }
      // With an explicit format, Node neither uses the "type" of the project's package.json nor warns if there is none.
      if (specifier.includes(mark)) return { url: specifier, format: "module-typescript", shortCircuit: true }
      return next(specifier, context)
    },
  })
}

function ownModule(source: string, bundled: string): string {
  return new URL(import.meta.url.endsWith(".ts") ? source : bundled, import.meta.url).href
}

/** Where in the file an error came from, as far as its stack tells. */
function placeIn(error: unknown, url: string): { line?: number; column?: number } {
  const stack = error instanceof Error ? (error.stack ?? "") : ""
  const at = stack.indexOf(`${url}:`)
  const [, line, column] = /^:(\d+)(?::(\d+))?/.exec(at < 0 ? "" : stack.slice(at + url.length)) ?? []
  return { ...(line ? { line: Number(line) } : {}), ...(column ? { column: Number(column) } : {}) }
}

/** Whether a path is a TypeScript module rather than data. */
export function isTypeScript(path: string): boolean {
  return /\.m?ts$/.test(path)
}
