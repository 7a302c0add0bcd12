// The modules that a story file imports, found by parsing them, and the import map that makes a browser load them as they
// are: package names, names without an ending, and our own name become addresses.
import { readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { dirname, relative } from "node:path"
import * as Vm from "node:vm"
import { errorText } from "#util/error.ts"
import { openInside } from "#util/file/resolve-inside.ts"
import { resolveImport } from "./resolve-import.ts"

type Source = { text: string; imports: string[]; problem?: string }
type ImportMap = { scopes: Record<string, Record<string, string>> }
export type Graph = { files: string[]; problems: string[]; imports: ImportMap }

const ownNames = new Set(["vitamin/world", "@vitamin-agent/vitamin/world"])
/** The address of the module that `ownNames` mean. */
export const ownModule = "/@vitamin/world.js"
const isScript = /\.[mc]?[jt]s$/
const dynamic = /\bimport\(\s*(["'`])([^"'`\n$]{1,500})\1/g
const maxModules = 2_000
const maxBytes = 5_000_000

const sources = new Map<string, { version: string; source: Source }>()

/** The JavaScript of a module inside `root`. Positions stay as they are in the file. Read again if the file changed. */
export function sourceOf(path: string, root: string): Source {
  try {
    using file = openInside([root], relative(root, path))
    const { mtimeMs, size } = file.stat
    const version = `${mtimeMs} ${size}`
    const known = sources.get(path)
    if (known?.version === version) return known.source
    const source = size > maxBytes ? failed(`it has more than ${maxBytes} bytes`) : parse(path, file.fd)
    sources.set(path, { version, source })
    return source
  } catch (error) {
    return failed(firstLine(error))
  }
}

export function graphOf(entry: string, root: string): Graph {
  const files = new Set([entry])
  const problems: string[] = []
  const scopes: ImportMap["scopes"] = {}
  for (const file of files) {
    const { imports, problem } = sourceOf(file, root)
    if (problem !== undefined) problems.push(`${relative(root, file)}: ${problem}`)
    for (const specifier of imports) follow(file, specifier)
  }
  return { files: [...files], problems, imports: { scopes } }

  function follow(file: string, specifier: string): void {
    if (/^(?:(?!node:)[a-z]+:|\/)/.test(specifier)) return
    const scope = `${addressOf(dirname(file), root)}/`.replace("//", "/")
    const isOwn = ownNames.has(specifier)
    const target = isOwn ? undefined : resolveImport(specifier, file)
    const isInside = target !== undefined && !relative(root, target).startsWith("..")
    if (!isOwn && !isInside)
      return void problems.push(`${relative(root, file)}: ${why(specifier, target !== undefined)}`)
    const address = isOwn ? ownModule : addressOf(target!, root)
    const key = specifier.startsWith(".") ? new URL(specifier, `http://x${scope}`).pathname : specifier
    if (key !== address) scopes[scope] = { ...scopes[scope], [key]: address }
    if (target === undefined || !isScript.test(target) || files.has(target)) return
    if (files.size < maxModules) files.add(target)
    else if (!problems.includes(tooMany)) problems.push(tooMany)
  }
}

/** The path of a file in addresses. */
function addressOf(file: string, root: string): string {
  return `/${relative(root, file).split("/").map(encodeURIComponent).join("/")}`
}

const tooMany = `a story imports more than ${maxModules} modules`

function why(specifier: string, exists: boolean): string {
  const name = JSON.stringify(specifier)
  if (exists) return `${name} is outside of the project, so it is not served`
  return specifier.startsWith("node:")
    ? `${name} is a module of Node; stories run in a browser`
    : `${name} was not found; is it installed?`
}

function parse(path: string, fd: number): Source {
  try {
    const written = readFileSync(fd, "utf8")
    const text = /\.[mc]?ts$/.test(path) ? stripTypeScriptTypes(written) : written
    const module = new Vm.SourceTextModule(text, { identifier: path })
    const statics = module.moduleRequests.map(({ specifier }) => specifier)
    const dynamics = Array.from(text.matchAll(dynamic), ([, , specifier]) => specifier!)
    return { text, imports: [...new Set([...statics, ...dynamics])] }
  } catch (error) {
    return failed(firstLine(error))
  }
}

function firstLine(error: unknown): string {
  return errorText(error).split("\n")[0]!
}

function failed(problem: string): Source {
  return { text: `throw new SyntaxError(${JSON.stringify(problem)})`, imports: [], problem }
}
