// Imports: that they exist, are used, and can be loaded in a browser.

import { isBuiltin } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import type { Import, Script } from "#ability/analysis/parse/script.ts"
import type { Report } from "#ability/analysis/term/finding.ts"
import { statOf, textOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { nearest } from "#util/nearest.ts"

/** As the story server resolves modules. */
const endings = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"]
/** The story server has these itself. */
const provided = new Set(["vitamin/world", "@vitamin-agent/vitamin/world"])

const maxImports = 1_000

type Place = {
  root: string
  /** The absolute path of the file. */
  file: string
  /** A browser loads it as it is: an import names the whole file. */
  isPage: boolean
  /** The script at a path, if it can be read. */
  read: (path: string) => Script | undefined
  report: Report
}

export function checkImports(script: Script, place: Place): void {
  for (const one of script.imports.slice(0, maxImports)) {
    checkSource(one, place)
    for (const { local, at } of one.names)
      if (local && !script.used.has(local))
        place.report("import/unused", at, `${local} is imported, but not used.`)
  }
}

function checkSource(one: Import, place: Place): void {
  const { source, at, isType } = one
  const { root, file, isPage, report } = place
  const path = (source.startsWith("/") ? join(root, source) : resolve(dirname(file), source)).replace(
    /[?#].*$/,
    "",
  )
  if (/^(https?:)?\/\//.test(source)) report("import/forbidden", at, `${source} is not on this machine.`)
  else if (isBuiltin(source)) {
    if (!isType)
      report("import/forbidden", at, `${source} is a module of Node, which a browser does not have.`)
  } else if (!/^\.{0,2}\//.test(source)) {
    if (!isType && !provided.has(source)) checkPackage(source, at, place)
  } else if (!isInside(root, path)) report("import/forbidden", at, `${source} is outside the project.`)
  else {
    const found = fileAt(path)
    const isMissing = !found || (isPage && found !== path)
    const fix = found && `Did you mean ${JSON.stringify(relativeTo(dirname(file), found))}?`
    if (isMissing) report("import/missing", at, `${source} does not exist.`, fix)
    else checkNames(one, found, place)
  }
}

function checkNames({ source, names }: Import, path: string, { read, report }: Place): void {
  const target = /\.[cm]?[jt]sx?$/.test(path) ? read(path) : undefined
  if (!target || target.exportsMore) return
  for (const { imported, at } of names)
    if (imported !== "*" && !target.exports.has(imported)) {
      const near = nearest(imported, target.exports)
      report("import/missing", at, `${source} exports no ${imported}.`, near && `Did you mean ${near}?`)
    }
}

function fileAt(path: string): string | undefined {
  const candidates = [path, ...endings.map((ending) => path + ending), path.replace(/\.(m?)js$/, ".$1ts")]
  return candidates.find((one) => statOf(one)?.isFile())
}

function relativeTo(folder: string, path: string): string {
  const found = relative(folder, path)
  return found.startsWith(".") ? found : `./${found}`
}

function checkPackage(source: string, at: number, { root, file, report }: Place): void {
  if (source.startsWith("#")) {
    if (!hasInternal(source, root, file)) report("import/missing", at, `No package.json defines ${source}.`)
    return
  }
  const name = source
    .split("/")
    .slice(0, source.startsWith("@") ? 2 : 1)
    .join("/")
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (statOf(join(folder, "node_modules", name)) || packageIn(folder)?.name === name) return
    if (folder === dirname(folder)) break
  }
  report(
    "import/missing",
    at,
    `The package ${name} is not installed.`,
    `Install ${name}, or correct the import.`,
  )
}

function hasInternal(source: string, root: string, file: string): boolean {
  for (let folder = dirname(file); isInside(root, folder); folder = dirname(folder)) {
    const { imports } = packageIn(folder) ?? {}
    const keys = typeof imports === "object" && imports ? Object.keys(imports) : []
    if (keys.some((key) => key === source || (key.includes("*") && source.startsWith(key.split("*")[0]!))))
      return true
    if (folder === dirname(folder)) break
  }
  return false
}

function packageIn(folder: string): { name?: unknown; imports?: unknown } | undefined {
  try {
    return JSON.parse(textOf(join(folder, "package.json")) ?? "null") ?? undefined
  } catch {
    return undefined
  }
}
