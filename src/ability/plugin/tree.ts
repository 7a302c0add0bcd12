// The files of a plugin before it is installed, in memory: bounded, without links that lead out, and nothing but files.
import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { dirname, join, posix, relative, resolve } from "node:path"
import { NamedError } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** By path from the plugin, with `/` between folders. */
export type Tree = Map<string, { bytes: Buffer; isExecutable: boolean }>

/** Why a plugin is not installed. */
export class Refused extends NamedError {
  constructor(message: string) {
    super("Plugin.Refused", message)
  }
}

const maxFiles = 5_000
const maxFile = 16 << 20
const maxTotal = 64 << 20
const maxDepth = 20
const maxPath = 500

/** Adds a file. Throws `Refused` for a path that could leave the folder, and beyond the limits. */
export function addFile(tree: Tree, path: string, file: { bytes: Buffer; isExecutable: boolean }): void {
  const parts = path.split("/")
  const isOdd = parts.some((part) => part === "" || part === "." || part === ".." || part.includes("\\"))
  if (isOdd || posix.isAbsolute(path) || /[\0-\x1f\x7f]/.test(path) || path.length > maxPath)
    throw new Refused(`the path ${JSON.stringify(path.slice(0, 200))} is not allowed in a plugin`)
  if (tree.has(path)) throw new Refused(`it has two files ${path}`)
  if (file.bytes.length > maxFile)
    throw new Refused(`${path} has ${file.bytes.length} bytes; the limit is ${maxFile}`)
  tree.set(path, file)
  if (tree.size > maxFiles) throw new Refused(`it has more than ${maxFiles} files`)
  if (sizeOf(tree) > maxTotal) throw new Refused(`it has more than ${maxTotal} bytes`)
}

const sizes = new WeakMap<Tree, { count: number; bytes: number }>()

/** The bytes of all files; only those that were added since the last call are counted. */
function sizeOf(tree: Tree): number {
  const known = sizes.get(tree)
  const last = [...tree.values()].slice(known?.count ?? 0)
  const bytes = (known?.bytes ?? 0) + last.reduce((sum, one) => sum + one.bytes.length, 0)
  sizes.set(tree, { count: tree.size, bytes })
  return bytes
}

/** SHA-256 by path, and the paths of files that can be executed. */
export function hashesOf(tree: Tree): { files: Record<string, string>; programs: string[] } {
  const paths = [...tree.keys()].sort()
  const files = Object.fromEntries(
    paths.map((path) => [path, createHash("sha256").update(tree.get(path)!.bytes).digest("hex")]),
  )
  return { files, programs: paths.filter((path) => tree.get(path)!.isExecutable) }
}

/** The files of a folder. A link to a file inside is copied; any other link is refused. `.git` is left out. */
export function readFolder(root: string): Tree {
  const tree: Tree = new Map()
  const real = realpathSync(root)
  const visit = (folder: string, depth: number) => {
    if (depth > maxDepth) throw new Refused(`its folders are nested deeper than ${maxDepth}`)
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name)
      const shown = relative(real, path)
      const stat = lstatSync(path)
      if (name === ".git") continue
      if (stat.isSymbolicLink()) addLink(path, shown)
      else if (stat.isDirectory()) visit(path, depth + 1)
      else if (stat.isFile()) add(path, shown)
      else throw new Refused(`${shown} is neither a file nor a folder`)
    }
  }
  const add = (path: string, shown: string) => {
    const { size, mode } = statSync(path)
    if (size > maxFile) throw new Refused(`${shown} has ${size} bytes; the limit is ${maxFile}`)
    addFile(tree, shown, { bytes: readFileSync(path), isExecutable: (mode & 0o100) !== 0 })
  }
  const addLink = (path: string, shown: string) => {
    const target = readlinkSync(path)
    const found = tryReal(resolve(dirname(path), target))
    if (found === undefined) throw new Refused(`${shown} is a broken or circular link`)
    if (!isInside(real, found)) throw new Refused(`${shown} is a link to ${target}, outside of the plugin`)
    if (!statSync(found).isFile()) throw new Refused(`${shown} is a link to a folder`)
    add(found, shown)
  }
  visit(real, 1)
  return tree
}

/** The part of a tree below a folder; the whole tree for "". */
export function below(tree: Tree, folder: string): Tree {
  const start = folder === "" ? "" : `${folder}/`
  const found: Tree = new Map()
  for (const [path, file] of tree) if (path.startsWith(start)) found.set(path.slice(start.length), file)
  return found
}

function tryReal(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
