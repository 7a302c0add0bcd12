// Finds the file that an import means for a browser: a relative path with or without its ending, a package by its `exports`
// for browsers, or a name of the project's own `imports`.
import { existsSync, realpathSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { textOf } from "#util/file/path-info.ts"

type Description = { exports?: unknown; imports?: unknown; browser?: unknown; module?: string; main?: string }

/** The path of a story file. */
export const isStory = /\.stories\.m?[jt]s$/
const conditions = new Set(["browser", "import", "module", "default", "development"])
const endings = ["", ".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"]

/** The real path, or undefined if there is no such file. */
export function resolveImport(specifier: string, importer: string): string | undefined {
  const plain = specifier.replace(/(?<=.)[?#].*/, "")
  if (/^\.{1,2}\//.test(plain)) return fileAt(resolve(dirname(importer), plain))
  if (plain.startsWith("#")) return ofImports(plain, dirname(importer))
  const [, name = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(plain) ?? []
  for (const folder of above(dirname(importer))) {
    const place = join(folder, "node_modules", name)
    if (existsSync(join(place, "package.json"))) return ofPackage(place, `.${rest}`)
  }
  return undefined
}

/** A module may be named without its ending, or by the .js that it is compiled to. */
export function fileAt(path: string): string | undefined {
  const source = path.replace(/\.(m?)js$/, ".$1ts")
  const found = [...endings.map((ending) => path + ending), source].find(isFile)
  return found && realpathSync(found)
}

function ofPackage(folder: string, subpath: string): string | undefined {
  const { exports, browser, module, main } = read(folder)
  if (exports !== undefined) return targetIn(folder, mapped(withSubpaths(exports), subpath))
  if (subpath !== ".") return fileAt(join(folder, subpath))
  const entry = typeof browser === "string" ? browser : (module ?? main ?? "index.js")
  return fileAt(join(folder, entry))
}

function ofImports(specifier: string, from: string): string | undefined {
  const folder = above(from).find((each) => existsSync(join(each, "package.json")))
  const target = folder && mapped(read(folder).imports, specifier)
  if (!folder || target === undefined) return undefined
  return target.startsWith("./")
    ? targetIn(folder, target)
    : resolveImport(target, join(folder, "package.json"))
}

function withSubpaths(exports: unknown): unknown {
  const isMap = isObject(exports) && Object.keys(exports).every((key) => key.startsWith("."))
  return isMap ? exports : { ".": exports }
}

/** The target of the exact key, else of the longest pattern with `*`. */
function mapped(map: unknown, key: string): string | undefined {
  if (!isObject(map)) return undefined
  if (key in map && !key.includes("*")) return chosen(map[key])
  const patterns = Object.keys(map).filter((each) => each.split("*").length === 2)
  for (const pattern of patterns.sort((a, b) => b.indexOf("*") - a.indexOf("*"))) {
    const [before, after] = pattern.split("*") as [string, string]
    const fits = key.startsWith(before) && key.endsWith(after) && key.length >= pattern.length - 1
    if (!fits) continue
    const middle = key.slice(before.length, key.length - after.length)
    return chosen(map[pattern])?.replaceAll("*", () => middle)
  }
  return undefined
}

/** The first target whose condition holds in a browser. */
function chosen(target: unknown): string | undefined {
  if (typeof target === "string") return target
  if (Array.isArray(target)) return target.map(chosen).find((each) => each !== undefined)
  if (!isObject(target)) return undefined
  for (const [condition, nested] of Object.entries(target)) {
    const found = conditions.has(condition) ? chosen(nested) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function targetIn(folder: string, target: string | undefined): string | undefined {
  return target === undefined ? undefined : fileAt(join(folder, target))
}

function read(folder: string): Description {
  try {
    return JSON.parse(textOf(join(folder, "package.json")) ?? "{}") as Description
  } catch {
    return {}
  }
}

function above(folder: string): string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...above(dirname(folder))]
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}
