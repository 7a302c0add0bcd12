// Finds the files of the work tree that differ from git's index: modified files, and files that git neither knows nor
// ignores. A copy of the index is compared, so that the project's own is neither locked nor written.
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import type { Uncovered } from "#ability/snapshot/store/part.ts"
import { type GitCall, runGit } from "#ability/snapshot/store/run-git.ts"
import { namesIn } from "#ability/snapshot/store/session-log.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { errorCode } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { walkPlain } from "./walk-plain.ts"

/** The index entry of a file that differs from it. */
export type Entry = { mode: string; hash: string }
export type Scan = {
  modified: Map<string, Entry>
  /** These, and all others whose times, size or inode differ from the index. */
  touched: Map<string, Entry>
  untracked: string[]
  uncovered: Uncovered[]
}
type Row = Entry & { path: Buffer }
type Looked = { modified: Row[]; touched: Row[] }

/** Bytes of names. A longer list is not what a person works on. */
const maxNames = 8 << 20
/** For more files it is cheaper to let git check once whether they really differ. */
const manyModified = 200

/** A copy of the project's current index, by name; undefined if there is none. */
export function copyIndex(shadow: Shadow): string | undefined {
  if (!shadow.repository) return undefined
  const source = join(shadow.repository.gitDir, "index")
  const stat = statSync(source, { bigint: true, throwIfNoEntry: false })
  if (!stat?.isFile()) return undefined
  copyShared(shadow, shadow.repository.gitDir)
  const name = `index-${shadow.key}-${stat.ino}-${stat.size}-${stat.mtimeNs}`
  const copy = join(shadow.folder, name)
  if (existsSync(copy)) return name
  for (const known of [shadow.refreshed, shadow.checked]) known.delete(name)
  const aside = join(shadow.folder, createId("tmp"))
  mkdirSync(shadow.folder, { recursive: true, mode: 0o700 })
  copyFileSync(source, aside, constants.COPYFILE_FICLONE)
  // Git reads files that are as new as the index. A slightly older time only makes it read more of them.
  const seconds = Number(stat.mtimeNs / 1_000n - 1n) / 1e6
  utimesSync(aside, seconds, seconds)
  renameSync(aside, copy)
  return name
}

/** The larger part of an index that is split lies beside it, under the hash of its bytes. */
function copyShared({ folder }: Shadow, gitDir: string): void {
  for (const name of namesIn(gitDir)) {
    if (!name.startsWith("sharedindex.") || existsSync(join(folder, name))) continue
    const aside = join(folder, createId("tmp"))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    copyFileSync(join(gitDir, name), aside, constants.COPYFILE_FICLONE)
    renameSync(aside, join(folder, name))
  }
}

export async function scan(shadow: Shadow, index: string | undefined): Promise<Scan> {
  shadow.store.ensure()
  copyExcludes(shadow)
  const [found, untracked, assumed] = await Promise.all([
    modifiedOf(shadow, index),
    untrackedOf(shadow, index),
    assumedIn(shadow, index),
  ])
  const looked = index && assumed.length ? await modifiedAnyway({ shadow, index, assumed }) : found
  const uncovered: Uncovered[] = []
  const known = (path: Buffer): string[] => {
    const name = path.toString()
    if (Buffer.from(name).equals(path)) return [name]
    uncovered.push({ path: name, reason: "its name is not UTF-8" })
    return []
  }
  const byName = (rows: Row[]) =>
    new Map(rows.flatMap(({ path, ...entry }) => known(path).map((name) => [name, entry])))
  const modified = byName(looked.modified)
  return {
    modified,
    touched: looked.touched === looked.modified ? modified : byName(looked.touched),
    // A name that ends like a folder is a repository inside of this one.
    untracked: untracked.flatMap(known).filter((name) => !name.endsWith("/")),
    uncovered,
  }
}

/** A git call over the work tree with that index. */
export function overWorktree({ store, root, folder }: Shadow, index: string | undefined): GitCall {
  const { gitDir, objects } = store
  return { gitDir, objects, worktree: root, index: join(folder, index ?? "no-index"), args: [] }
}

async function modifiedOf(shadow: Shadow, index: string | undefined): Promise<Looked> {
  if (!index) return { modified: [], touched: [] }
  const call = overWorktree(shadow, index)
  // Files outside a sparse checkout that exist anyway count too.
  const setting = "core.sparseCheckout=true"
  const args = ["diff-files", "--raw", "-z", "--ignore-submodules=all"]
  const diffIndex = () => runGit({ ...call, setting, args })
  const touched = rowsIn(await diffIndex())
  if (touched.length <= manyModified || shadow.refreshed.has(index)) return { modified: touched, touched }
  shadow.refreshed.add(index)
  // Only makes the next scans cheaper; another process may be doing it.
  const refresh = ["update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh"]
  await runGit({ ...call, args: refresh }).catch(() => undefined)
  return { modified: rowsIn(await diffIndex()), touched }
}

/** Files that git was told to assume unchanged, as far as this copy of the index still knows of it. */
async function assumedIn(shadow: Shadow, index: string | undefined): Promise<Buffer[]> {
  if (!index || shadow.checked.has(index)) return []
  const { assumed } = await trackedIn(shadow, index)
  if (!assumed.length) shadow.checked.add(index)
  return assumed
}

/** All files of the index, and which of them git was told to assume unchanged. Callers at the same time share one
 * git process. */
export function trackedIn(shadow: Shadow, index: string): Promise<{ names: string[]; assumed: Buffer[] }> {
  const known = shadow.tracking.get(index)
  if (known) return known
  const made = listTracked(shadow, index).finally(() => shadow.tracking.delete(index))
  shadow.tracking.set(index, made)
  return made
}

async function listTracked(shadow: Shadow, index: string) {
  const output = await runGit({ ...overWorktree(shadow, index), args: ["ls-files", "-v", "-z"] })
  const names: string[] = []
  const assumed: Buffer[] = []
  for (const row of pieces(output)) {
    names.push(row.toString("utf8", 2))
    // `h path`, with a small letter.
    if (row[0]! >= 97) assumed.push(row.subarray(2))
  }
  return { names, assumed }
}

/** They are scanned like all others: our copy drops the assume-unchanged flag. Another process may be doing it. */
async function modifiedAnyway(options: { shadow: Shadow; index: string; assumed: Buffer[] }) {
  const { shadow, index, assumed } = options
  const input = Buffer.concat(assumed.flatMap((name) => [name, Buffer.alloc(1)]))
  const args = ["update-index", "--no-assume-unchanged", "-z", "--stdin"]
  await runGit({ ...overWorktree(shadow, index), args, input }).catch(async (error) => {
    if ((await assumedIn(shadow, index)).length) throw error
  })
  return modifiedOf(shadow, index)
}

async function untrackedOf(shadow: Shadow, index: string | undefined): Promise<Buffer[]> {
  const plain = shadow.repository ? undefined : plainFiles(shadow)
  if (plain) return plain
  const call = overWorktree(shadow, index)
  const output = await runGit({
    ...call,
    args: ["ls-files", "--others", "--exclude-standard", "-z"],
    maxBytes: maxNames,
  })
  return pieces(output)
}

/** Names that are not UTF-8 are read as something else; git gives them as they are. */
function plainFiles({ root }: Shadow): Buffer[] | undefined {
  try {
    const names = walkPlain(root)
    return names?.some((name) => name.includes("\ufffd"))
      ? undefined
      : names?.map((name) => Buffer.from(name))
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

/** `:100644 100644 <hash of the index> <zeros> M`, NUL, path, NUL. */
function rowsIn(output: Buffer): Row[] {
  const parts = pieces(output)
  const rows: Row[] = []
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [mode = "", , hash = ""] = parts[i]!.toString("latin1").slice(1).split(" ")
    if (mode !== "160000") rows.push({ mode, hash, path: parts[i + 1]! })
  }
  return rows
}

export function pieces(output: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at)
    if (end < 0) break
    found.push(output.subarray(at, end))
    at = end + 1
  }
  return found
}

/** What the project ignores beside its .gitignore files. */
function copyExcludes({ repository, store }: Shadow): void {
  if (!repository) return
  for (const name of ["exclude", "attributes"]) {
    const text = textOf(join(repository.commonDir, "info", name))
    const copy = join(store.gitDir, "info", name)
    if (text !== textOf(copy)) writeFileSync(copy, text, "latin1")
  }
}

function textOf(file: string): string {
  try {
    return statSync(file).isFile() ? readFileSync(file, "latin1") : ""
  } catch {
    return ""
  }
}
