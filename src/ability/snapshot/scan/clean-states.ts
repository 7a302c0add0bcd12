// The earlier state of files that were clean in git: the bytes come from the project's own objects, but only if they
// are certainly the bytes of the file. A filter or line end conversion rules that out.
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { State } from "#ability/snapshot/store/part.ts"
import { runGit } from "#ability/snapshot/store/run-git.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { type Entry, overWorktree, pieces } from "./scan.ts"

type Options = { shadow: Shadow; index: string; entries: ReadonlyMap<string, Entry>; maxBytes: number }

const converting = ["filter", "working-tree-encoding", "ident"]
const atOnce = 64
/** The skip-worktree bit of an entry: it is unknown whether the file existed. */
const skipped = 0x40000000
/** So many names certainly fit on a command line. */
const fewNames = 100

/** For each path its state, whose bytes are stored, or why it is unknown; and the inodes that the index has for them. */
export async function cleanStates(
  options: Options,
): Promise<{ states: Map<string, State | NamedError>; inodes: Set<number> }> {
  const { shadow, entries, maxBytes } = options
  const attributes = attributeFiles(entries)
  const { sizes, inodes, leftOut, hasAttributes } = await sizesOf(options, attributes)
  const converted =
    hasAttributes || mayHaveAttributes(shadow, attributes) ? await convertedOf(options) : new Set<string>()
  const found = new Map<string, State | NamedError>()
  const readable: string[] = []
  for (const path of entries.keys()) {
    const size = sizes.get(path)
    if (leftOut.has(path)) found.set(path, unknown("git leaves it out of this work tree"))
    else if (converted.has(path)) found.set(path, unknown("git converts it when it is checked out"))
    else if (size === undefined) found.set(path, unknown("git does not know its size"))
    else if (size > maxBytes) found.set(path, unknown(`it had more than ${maxBytes} bytes`))
    else readable.push(path)
  }
  for (let at = 0; at < readable.length; at += atOnce) {
    const some = readable.slice(at, at + atOnce)
    const bytes = await shadow.store.readSome(some.map((path) => entries.get(path)!.hash))
    for (const path of some) {
      const { hash, mode } = entries.get(path)!
      found.set(path, stateFrom({ shadow, mode, bytes: bytes.get(hash), size: sizes.get(path)! }))
    }
  }
  return { states: found, inodes }
}

function stateFrom(options: {
  shadow: Shadow
  mode: string
  bytes: Buffer | undefined
  size: number
}): State | NamedError {
  const { shadow, mode, bytes, size } = options
  if (!bytes) return unknown("git does not have its bytes")
  if (bytes.length !== size) return unknown("its line ends were not those that git keeps")
  const hash = shadow.store.put(bytes)
  if (mode === "120000") return { kind: "link", mode: 0o777, size, hash }
  return { kind: "file", mode: mode === "100755" ? 0o755 : 0o644, size, hash, exact: false }
}

/** The files that may define attributes of these entries; undefined if there are too many entries to look for them. */
function attributeFiles(entries: Options["entries"]): string[] | undefined {
  if (entries.size > fewNames) return undefined
  const found = new Set([".gitattributes"])
  for (const path of entries.keys())
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
      found.add(`${folder}/.gitattributes`)
  return [...found]
}

function mayHaveAttributes({ root, store }: Shadow, files: string[] | undefined): boolean {
  if (!files || (statOf(join(store.gitDir, "info", "attributes"))?.size ?? 0) > 0) return true
  return files.some((file) => existsSync(join(root, file)))
}

/** How large each file was when git last found it clean, and whether the index has some of these attributes. */
async function sizesOf({ shadow, index, entries }: Options, attributes: string[] | undefined) {
  const names = attributes ? [...entries.keys(), ...attributes] : []
  const args = ["ls-files", "--cached", "--debug", "-z", "--", ...names]
  const output = await runGit({ ...overWorktree(shadow, index), args })
  const sizes = new Map<string, number>()
  const inodes = new Set<number>()
  const leftOut = new Set<string>()
  let hasAttributes = false
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at)
    if (end < 0) break
    const path = output.toString("utf8", at, end)
    hasAttributes ||= attributes?.includes(path) ?? false
    const next = output.indexOf("flags: ", end)
    const text = output.toString("latin1", end, next)
    const size = /size: (\d+)/.exec(text)?.[1]
    const inode = Number(/ino: (\d+)/.exec(text)?.[1] ?? 0)
    if (size !== undefined && entries.has(path)) sizes.set(path, Number(size))
    if (inode > 0 && entries.has(path)) inodes.add(inode)
    const line = output.indexOf(10, next)
    const flags = Number.parseInt(output.toString("latin1", next + "flags: ".length, line), 16)
    if (flags & skipped) leftOut.add(path)
    at = line < 0 ? output.length : line + 1
  }
  return { sizes, inodes, leftOut, hasAttributes }
}

/** Uses the attributes of the index and the current ones, because the call may have changed them. */
async function convertedOf({ shadow, index, entries }: Options): Promise<Set<string>> {
  const found = new Set<string>()
  const input = `${[...entries.keys()].join("\0")}\0`
  const ask = (...where: string[]) => {
    const args = ["check-attr", ...where, "-z", "--stdin", ...converting]
    return runGit({ ...overWorktree(shadow, index), args, input })
  }
  for (const output of await Promise.all([ask(), ask("--cached")])) {
    const parts = pieces(output)
    for (let i = 0; i + 2 < parts.length; i += 3)
      if (!["unspecified", "unset"].includes(parts[i + 2]!.toString())) found.add(parts[i]!.toString())
  }
  return found
}

function unknown(reason: string): NamedError {
  return new NamedError("Snapshot.Unknown", reason)
}
