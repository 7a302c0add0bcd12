// Whether a path is inside a folder, judged by where it really is. For use, a file is opened first and then what was
// opened is judged, so that nothing swapped in between gets through.
import { constants, readlinkSync, realpathSync, type Stats } from "node:fs"
import { type FileHandle, open, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { errorCode, NamedError } from "#util/error.ts"
import { statOf } from "#util/stat-of.ts"

const maxLinks = 40

export class PathOutside extends NamedError {
  constructor(path: string, root: string) {
    super("PathOutside", `Path ${JSON.stringify(path)} is outside of ${root}`, { path, root })
  }
}

export class PathInvalid extends NamedError {
  constructor(path: string, reason: string) {
    super("PathInvalid", `Path ${JSON.stringify(path)} cannot be used: ${reason}`, { path })
  }
}

/** The real path of `path` (relative to `root`, or absolute), which need not exist yet. */
export async function resolveInside(root: string, path: string): Promise<string> {
  const { folder, target } = check(root, path)
  const real = await realTarget(target, path)
  if (!isInside(folder, real)) throw new PathOutside(path, folder)
  refuseSpecial(statOf(real), path)
  return real
}

/** The file or folder itself, open for reading. A missing one throws ENOENT. */
export async function openInside(root: string, path: string): Promise<FileHandle> {
  const { folder, target } = check(root, path)
  // Opening a device can already have effects; that is refused before. A pipe swapped in must not block.
  refuseSpecial(statOf(target), path)
  const handle = await open(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const stat = await handle.stat()
    refuseSpecial(stat, path)
    if (!isInside(folder, locate(handle, stat, target))) throw new PathOutside(path, folder)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A path that leads to an open folder, whatever happens to its names meanwhile (where the system can). */
export function handlePath(handle: FileHandle, target: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : target
}

/** By path relation, never by prefix: a sibling may have a name that starts with the folder's. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function check(root: string, path: string): { folder: string; target: string } {
  if (path === "") throw new PathInvalid(path, "it is empty")
  if (path.includes("\0")) throw new PathInvalid(path, "it has a NUL byte")
  const folder = realpathSync(root)
  const target = resolve(folder, path)
  if (path.split(/[\\/]/).includes("..")) {
    if (!isInside(folder, target) && !isInside(resolve(root), target)) throw new PathOutside(path, folder)
    throw new PathInvalid(path, 'it has a ".." segment; write the path without it')
  }
  return { folder, target }
}

/** Where a path leads: symlinks of all parents that exist are followed, dangling ones too. */
async function realTarget(target: string, path: string, links = 0): Promise<string> {
  try {
    return await realpath(target)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ELOOP" || links > maxLinks)
      throw new PathInvalid(path, "its symbolic links lead in a circle")
    if (code === "ENAMETOOLONG") throw new PathInvalid(path, "it is too long")
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error
  }
  const parent = dirname(target)
  const link = linkOf(target)
  if (link !== undefined)
    return realTarget(resolve(await realTarget(parent, path, links + 1), link), path, links + 1)
  return join(await realTarget(parent, path, links), target.slice(parent.length))
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function refuseSpecial(stat: Stats | undefined, path: string) {
  if (stat && !stat.isFile() && !stat.isDirectory())
    throw new PathInvalid(path, `it is ${kind(stat)}, neither a file nor a folder`)
}

function kind(stat: Stats): string {
  if (stat.isFIFO()) return "a named pipe"
  return stat.isSocket() ? "a socket" : "a device"
}

/** The place of what is open: the kernel knows; elsewhere the name must still lead to the same thing. */
function locate(handle: FileHandle, stat: Stats, target: string): string {
  if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${handle.fd}`)
  const real = realpathSync(target)
  const now = statOf(real)
  if (now?.dev === stat.dev && now.ino === stat.ino) return real
  throw new PathInvalid(target, "it changed while it was opened")
}
