// Finds the files of the work tree that differ from git's index: modified files, and untracked files that are not ignored.
// It works on a copy of the index, so that the project's own is neither locked nor written.
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
  /** All files whose times, size or inode differ from the index, the modified ones among them. */
  touched: Map<string, Entry>
  untracked: string[]
  uncovered: Uncovered[]
}
type Row = Entry & { path: Buffer }
type Differences = { modified: Row[]; touched: Row[] }

/** The limit for the names of untracked files, in bytes. So many files were not written by a person. */
const maxNames = 8 << 20
/** For more files it is cheaper to let git refresh the index once, which compares their contents. */
const manyModified = 200

/** Copies the project's current index, and returns the name of the copy; undefined if there is no index. */
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
  // Git compares the content of files that are as new as the index. The copy gets a slightly older time than the index, so
  // that git compares too many files rather than too few.
  const seconds = Number(stat.mtimeNs / 1_000n - 1n) / 1e6
  utimesSync(aside, seconds, seconds)
  renameSync(aside, copy)
  return name
}

/** Copies the shared part of a split index. Its name has the hash of its content in it, so it never changes. */
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
    // A name with a slash at its end is a repository inside this one.
    untracked: untracked.flatMap(known).filter((name) => !name.endsWith("/")),
    uncovered,
  }
}

/** A git call over the work tree with that index. */
export function overWorktree({ store, root, folder }: Shadow, index: string | undefined): GitCall {
  const { gitDir, objects } = store
  return { gitDir, objects, worktree: root, index: join(folder, index ?? "no-index"), args: [] }
}

async function modifiedOf(shadow: Shadow, index: string | undefined): Promise<Differences> {
  if (!index) return { modified: [], touched: [] }
  const call = overWorktree(shadow, index)
  // Files outside a sparse checkout that exist anyway count too.
  const setting = "core.sparseCheckout=true"
  const args = ["diff-files", "--raw", "-z", "--ignore-submodules=all"]
  const diffIndex = () => runGit({ ...call, setting, args })
  const touched = rowsIn(await diffIndex())
  if (touched.length <= manyModified || shadow.refreshed.has(index)) return { modified: touched, touched }
  shadow.refreshed.add(index)
  // This makes the next scans cheaper. It may fail, because another process may be doing the same.
  const refresh = ["update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh"]
  await runGit({ ...call, args: refresh }).catch(() => undefined)
  return { modified: rowsIn(await diffIndex()), touched }
}

/** Files with the assume-unchanged flag in this copy of the index. */
async function assumedIn(shadow: Shadow, index: string | undefined): Promise<Buffer[]> {
  if (!index || shadow.checked.has(index)) return []
  const { assumed } = await trackedIn(shadow, index)
  if (!assumed.length) shadow.checked.add(index)
  return assumed
}

/** All files of the index, and those with the assume-unchanged flag. Concurrent callers share one git process. */
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
    // The flag makes the letter before the path lower-case: `h path`.
    if (row[0]! >= 97) assumed.push(row.subarray(2))
  }
  return { names, assumed }
}

/** Removes the assume-unchanged flags from our copy and scans again. If git fails because another process does the same,
 * that is no error. */
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

/** The files of a folder without a repository, without starting git. Undefined if a name is not UTF-8: Node would change
 * it, and git returns its bytes. */
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

/** Copies `info/exclude` and `info/attributes` of the repository: what it ignores beside its .gitignore files. */
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
