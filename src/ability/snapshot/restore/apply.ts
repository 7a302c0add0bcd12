// Carries out a plan: replaces each path by a rename, or removes it. Folders are opened one by one, and links to folders
// are not followed. After a crash, applying the whole plan again leads to the same state.
import { closeSync, fchmodSync, readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isHalfWritten, stateOf } from "#ability/snapshot/scan/state-of.ts"
import { atThisMoment, Conflict, NotReverted } from "#ability/snapshot/store/errors.ts"
import { isSame, type State } from "#ability/snapshot/store/part.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { errorCode } from "#util/error.ts"
import { writeInPlace } from "#util/file/write-file.ts"
import { applyLinks } from "./apply-links.ts"
import { finishFolders, openFolders } from "./folders.ts"
import {
  type Folder,
  openFile,
  openFolder,
  replaceFile,
  replaceLink,
  setMode,
  within,
} from "./open-folder.ts"
import type { Action, Plan } from "./plan.ts"

/** `name` is the name for temporary files. It stays the same after a crash, so that leftovers are found and removed. */
export async function apply(shadow: Shadow, plan: Plan, name: string): Promise<void> {
  const { root } = shadow
  const { actions, folders, folderActions, links } = plan
  const written = [...actions.map(({ path }) => path), ...links.flatMap(({ paths }) => paths)]
  for (const folder of new Set(written.map((path) => dirname(path)))) removeAside(root, folder, name)
  openFolders(shadow, folderActions)
  const deepestFirst = [...actions].sort((a, b) => depth(b.path) - depth(a.path))
  for (const action of deepestFirst)
    if (isInTheWay(action)) step(shadow, action, () => remove(root, action.path))
  for (const folder of [...folders].sort((a, b) => depth(b) - depth(a))) removeFolder(root, folder)
  // Break new hard links first: setting the mode of one name would set it for the others as well.
  await applyLinks(
    shadow,
    links.filter(({ before }) => before === "apart"),
    name,
  )
  for (const action of actions) if (action.to) await writeBack(shadow, action, name)
  await applyLinks(
    shadow,
    links.filter(({ before }) => before === "linked"),
    name,
  )
  finishFolders(shadow, folderActions)
}

/** Restores one path. If only the mode differs, the bytes are not read: they may not have been stored. */
async function writeBack(shadow: Shadow, { path, from, to }: Action, name: string): Promise<void> {
  const bytes = from?.hash === to!.hash ? undefined : await shadow.store.read(to!.hash!)
  const found = (await isHalfWritten(shadow, path, { from, to })) ? stateOf(shadow, path) : from
  step(shadow, { path, from: found, to }, (now) => write({ shadow, path, now, from, to: to!, bytes, name }))
}

/** Runs one step of the plan. Throws `Conflict` if the path is neither as it was when the plan was made nor as it should
 * become: somebody has just changed it. */
function step(shadow: Shadow, { path, from, to }: Action, work: (now: State) => void): void {
  const now = stateOf(shadow, path)
  if (isSame(now, to)) return
  const isOnItsWay = now === null && to !== null && from?.hash !== to.hash
  if (!isSame(now, from) && !isOnItsWay) throw new Conflict([{ path, reason: atThisMoment }])
  try {
    work(now)
  } catch (error) {
    throw errorCode(error) === undefined ? error : new NotReverted(path, error)
  }
}

/** Whether the path must be removed first. A rename replaces a file or a link, but not a folder. */
function isInTheWay({ from, to }: Action): boolean {
  return to === null || from?.kind === "folder"
}

type Writing = {
  shadow: Shadow
  path: string
  now: State
  from: State
  to: NonNullable<State>
  bytes: Buffer | undefined
  name: string
}

function write({ shadow, path, now, from, to, bytes, name }: Writing): void {
  using folder = openFolder(shadow.root, dirname(path), true)!
  const mode = modeFor(from, to)
  if (!bytes) setMode(folder, basename(path), mode!)
  // It is still the same inode, which has other names too: writing in place restores them all.
  else if (to.inode && now?.inode === to.inode)
    rewrite(folder, basename(path), { bytes, mode, inode: to.inode })
  else if (to.kind === "link") replaceLink(folder, basename(path), { target: bytes, aside: name })
  else replaceFile(folder, basename(path), { bytes, mode, aside: name })
}

function rewrite(
  folder: Folder,
  name: string,
  { bytes, mode, inode }: { bytes: Buffer; mode: number | undefined; inode: string },
): void {
  const fd = openFile(folder, name, inode)
  try {
    writeInPlace(fd, bytes)
    if (mode !== undefined) fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
}

/** Git stores only whether a file is executable. The other bits are taken from the present file, or from the umask. */
function modeFor(from: State, to: NonNullable<State>): number | undefined {
  if (to.exact !== false) return to.mode
  const isProgram = (to.mode & 0o100) !== 0
  if (from?.kind === "file") {
    const base = from.mode & ~0o111
    return isProgram ? base | ((base & 0o444) >> 2) : base
  }
  return isProgram ? 0o777 & ~process.umask() : undefined
}

function remove(root: string, path: string): void {
  using folder = openFolder(root, dirname(path), false)
  if (folder) unlinkOrRmdir(within(folder, basename(path)))
}

function unlinkOrRmdir(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT") return
    if (code !== "EISDIR" && code !== "EPERM") throw error
    removeEmptyTree(path)
  }
}

/** Removes a folder that contains nothing but folders. Throws if it contains a file. */
function removeEmptyTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyTree(join(path, entry.name))
  rmdirSync(path)
}

function removeFolder(root: string, path: string): void {
  using folder = openFolder(root, dirname(path), false)
  try {
    if (folder) rmdirSync(within(folder, basename(path)))
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "ENOTDIR", "EEXIST"].includes(errorCode(error) ?? "")) throw error
  }
}

function removeAside(root: string, path: string, name: string): void {
  using folder = openFolder(root, path, false)
  if (folder) rmSync(within(folder, name), { force: true })
}

function depth(path: string): number {
  return path.split("/").length
}
