// Checks by its real path whether a path is inside a folder. `openInside` opens the file first and checks the open
// file, so that nothing can be swapped in between.
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { errorCode, isMissing, NamedError } from "#util/error.ts"
import { statOf } from "./path-info.ts"

// Blocking calls throughout: each takes microseconds, and the thread pool many times that.
const maxLinks = 40

/** An open file or folder: its stat when it was opened, and its real path. */
export type Handle = { readonly fd: number; readonly stat: Stats; readonly place: string } & Disposable

export class PathOutside extends NamedError {
  constructor(path: string, root: string) {
    super("PathOutside", `Path ${JSON.stringify(path)} is outside of ${root}`, { path, root })
  }
}

export class PathInvalid extends NamedError {
  constructor(path: string, reason: string) {
    super("PathInvalid", `Path ${JSON.stringify(path)} cannot be used: ${reason}`, { path, reason })
  }
}

/** The real path of `path` (relative to `root`, or absolute), which need not exist yet. */
export async function resolveInside(root: string, path: string): Promise<string> {
  return statInside(root, path).real
}

/** The same, with the stat of the file if it exists. */
export function statInside(root: string, path: string): { real: string; stat: Stats | undefined } {
  const { folder, target } = check(root, path)
  const real = realTarget(target, path)
  if (!isInside(folder, real)) throw new PathOutside(path, folder)
  const stat = statOf(real)
  refuseSpecial(stat, path)
  return { real, stat }
}

/** The file or folder itself, open for reading, if it is in one of the folders. A relative path starts at the first
 * folder. Throws ENOENT if the file is missing. */
export function openInside(roots: readonly [string, ...string[]], path: string): Handle {
  const { folder, target } = check(roots[0], path)
  // Devices are refused before the open, which can already have effects. A pipe that is swapped in must not block.
  refuseSpecial(statOf(target), path)
  const fd = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const stat = fstatSync(fd)
    refuseSpecial(stat, path)
    const place = locate(fd, stat, target)
    if (![folder, ...roots.slice(1)].some((root) => isInside(root, place)))
      throw new PathOutside(path, folder)
    return Object.freeze({ fd, stat, place, [Symbol.dispose]: () => closeSync(fd) })
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** The file that was opened must be the one that was checked, even if both are in the workspace. */
export function refuseSwapped(path: string, place: string, reals: readonly string[] | undefined): void {
  if (reals && !reals.includes(place))
    throw new PathInvalid(path, "it leads elsewhere than a moment ago; try again")
}

/** A path that on Linux leads to the open folder even if the folder is renamed or replaced. */
export function handlePath({ fd }: Handle, target: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : target
}

/** By relative path, not by prefix: "/ab" is not inside "/a". */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function check(root: string, path: string): { folder: string; target: string } {
  if (path === "") throw new PathInvalid(path, "it is empty")
  if (path.includes("\0")) throw new PathInvalid(path, "it has a NUL byte")
  const folder = realpathSync.native(root)
  const target = resolve(folder, path)
  if (path.split(/[\\/]/).includes("..")) {
    if (!isInside(folder, target) && !isInside(resolve(root), target)) throw new PathOutside(path, folder)
    throw new PathInvalid(path, 'it has a ".." segment; write the path without it')
  }
  return { folder, target }
}

/** Where a path leads: symlinks of all parents that exist are followed, dangling ones too. */
function realTarget(target: string, path: string, links = 0): string {
  try {
    return realpathSync.native(target)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ELOOP" || links > maxLinks)
      throw new PathInvalid(path, "its symbolic links lead in a circle")
    if (code === "ENAMETOOLONG") throw new PathInvalid(path, "it is too long")
    if (!isMissing(error)) throw error
  }
  const parent = dirname(target)
  const link = linkOf(target)
  if (link !== undefined)
    return realTarget(resolve(realTarget(parent, path, links + 1), link), path, links + 1)
  return join(realTarget(parent, path, links), target.slice(parent.length))
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

/** The real path of an open file. On Linux the kernel knows it; elsewhere the path must still lead to the same file. */
function locate(fd: number, stat: Stats, target: string): string {
  if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${fd}`)
  const real = realpathSync.native(target)
  const now = statOf(real)
  if (now?.dev === stat.dev && now.ino === stat.ino) return real
  throw new PathInvalid(target, "it changed while it was opened")
}
