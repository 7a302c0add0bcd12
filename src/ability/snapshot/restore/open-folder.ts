// Opens a folder of the work tree name by name, never through a link. Everything in it goes through the open folder,
// so that swapping a part of the path has no effect.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { atThisMoment, Conflict } from "#ability/snapshot/store/errors.ts"
import type { Pending } from "#ability/snapshot/store/session-log.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { errorCode } from "#util/error.ts"
import { removeLeftovers } from "#util/file/write-file.ts"

export type Folder = { fd: number; path: string } & Disposable

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** O_PATH of Linux: opens a path without the permission to read it. */
const onlyPath = 0o10000000

/** Undefined if it does not exist and must not be created. */
export function openFolder(root: string, path: string, make: boolean): Folder | undefined {
  let folder = folderOf(openSync(root, flags), root)
  for (const name of path === "." ? [] : path.split("/")) {
    using above = folder
    const next = openNext(above, name, make)
    if (!next) return undefined
    folder = next
  }
  return folder
}

/** A path in the open folder. On Linux it stays valid if a folder is renamed. */
export function within({ fd, path }: Folder, name: string): string {
  return join(process.platform === "linux" ? `/proc/self/fd/${fd}` : path, name)
}

/** Set the mode of a file or folder in an open folder; never follows a link. */
export function setMode(folder: Folder, name: string, mode: number): void {
  const canReadNothing = process.platform === "linux"
  const access = canReadNothing ? onlyPath : constants.O_RDONLY | constants.O_NONBLOCK
  const fd = openSync(within(folder, name), access | constants.O_NOFOLLOW)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() && !stat.isDirectory()) throw swapped(folder, name)
    if (canReadNothing) chmodSync(`/proc/self/fd/${fd}`, mode)
    else fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
}

/** Writes a file under the name `aside`, and renames it into place. Without a mode it gets that of a new file. */
export function replaceFile(
  folder: Folder,
  name: string,
  { bytes, mode, aside }: { bytes: Buffer; mode: number | undefined; aside: string },
): void {
  const fd = openSync(within(folder, aside), "wx", mode === undefined ? 0o666 : 0o600)
  try {
    writeFileSync(fd, bytes)
    if (mode !== undefined) fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
  renameSync(within(folder, aside), within(folder, name))
}

export function replaceLink(folder: Folder, name: string, link: { target: Buffer; aside: string }): void {
  symlinkSync(link.target, within(folder, link.aside))
  renameSync(within(folder, link.aside), within(folder, name))
}

/** The file with this inode, open for writing in place. */
export function openFile(folder: Folder, name: string, inode: string): number {
  const fd = openSync(within(folder, name), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stat = fstatSync(fd, { bigint: true })
  if (stat.isFile() && String(stat.ino) === inode) return fd
  closeSync(fd)
  throw swapped(folder, name)
}

/** Removes what a killed `write` or `edit` left in the folder of each file that it was about to change. */
export function cleanFolders({ root }: Shadow, { part, base }: Pending): void {
  if (base) return
  for (const { path } of part.files) {
    using folder = openFolder(root, dirname(path), false)
    if (folder) removeLeftovers(within(folder, ""))
  }
}

function folderOf(fd: number, path: string): Folder {
  return { fd, path, [Symbol.dispose]: () => closeSync(fd) }
}

function openNext(folder: Folder, name: string, make: boolean): Folder | undefined {
  const place = within(folder, name)
  try {
    if (make) makeFolder(place)
    return folderOf(openSync(place, flags), join(folder.path, name))
  } catch (error) {
    const code = errorCode(error)
    if (!make && (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP")) return undefined
    if (code === "ENOTDIR" || code === "ELOOP")
      throw new Conflict([{ path: join(folder.path, name), reason: "it has to be a folder, and is none" }])
    throw error
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error
  }
}

function swapped({ path }: Folder, name: string): Conflict {
  return new Conflict([{ path: join(path, name), reason: atThisMoment }])
}
