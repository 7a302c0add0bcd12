// Opens the folder of a file that a call wants to write, and checks that writing is allowed there. Everything after
// that goes through the open folder, so that swapping a part of the path meanwhile has no effect.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from "node:fs"
import { basename, dirname, isAbsolute, join, parse, relative, resolve } from "node:path"
import type { Context, Need } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import { errorCode, NamedError } from "#util/error.ts"
import {
  isInside,
  PathInvalid,
  PathOutside,
  refuseSwapped,
  resolveInside,
} from "#util/file/resolve-inside.ts"
import { removeLeftovers } from "#util/file/write-file.ts"
import { makeFolder, replaceFile } from "./replace-file.ts"

export type Place = {
  /** As a person would write it, relative to the folder of the Instance. */
  shown: string
  /** The same, with the real path if a link leads there. */
  named: string
  /** The absolute path by name. */
  path: string
  /** The real path, symbolic links followed. */
  real: string
  /** The file that exists now. */
  file: { size: number; read(): Buffer; stat: BigIntStats } | undefined
  /** Write the whole content, all or nothing, and create missing folders. Returns the identity of the new file. */
  replace(bytes: Buffer, old?: Buffer): BigIntStats
} & Disposable

type Folder = { fd: number; path: string; missing: string[] }

/** Folders in which this instance has searched for leftovers of killed processes. */
const cleaned = Instance.state(() => new Set<string>())

const reasons: Record<string, string> = {
  ENOSPC: "the disk is full (ENOSPC); the old content is kept",
  EDQUOT: "the disk quota is used up (EDQUOT); the old content is kept",
  EFBIG: "it would be too large (EFBIG); the old content is kept",
  EROFS: "the file system is read-only (EROFS)",
  EACCES: "permission denied (EACCES)",
  EPERM: "the system does not permit it (EPERM)",
  ETXTBSY: "it is a program that is running (ETXTBSY)",
  ENOTDIR: "a part of its path is a file, not a folder (ENOTDIR)",
  ENAMETOOLONG: "its name is too long (ENAMETOOLONG)",
  ENOENT: "its folder was removed meanwhile (ENOENT)",
  EEXIST: "somebody else made it meanwhile (EEXIST); read it first",
  ELOOP: "it was swapped for a symbolic link meanwhile (ELOOP)",
}

/** What a tool that writes `path` needs. */
export function needsWriting(permission: "file.write" | "file.edit", path: string): Need[] {
  return [{ permission, target: resolve(Instance.directory, path) }]
}

export async function openForWriting(path: string, context: Context): Promise<Place> {
  refuseName(path)
  const absolute = resolve(Instance.directory, path)
  const inside = isInside(Instance.worktree, absolute)
  const shown = inside ? relative(Instance.directory, absolute) || "." : absolute
  const explained = <T>(work: () => T) => explain(shown, work)
  const real = await resolveInside(parse(absolute).root, absolute)
  const folder = explained(() => openFolder(dirname(real)))
  try {
    const name = basename(real)
    const place = join(locate(folder), ...folder.missing, name)
    if (!allowed(context).some((root) => isInside(root, place)))
      throw new PathOutside(path, Instance.worktree)
    refuseSwapped(path, place, context.reals)
    if (!folder.missing.length) cleanOnce(folder, dirname(place))
    const file = folder.missing.length ? undefined : explained(() => openFile(within(folder, name), shown))
    return {
      shown,
      named: place === absolute ? shown : `${shown} → ${showPlace(place)}`,
      path: absolute,
      real: place,
      file: file && { stat: file.stat, size: Number(file.stat.size), read: readOnce(file.fd) },
      replace: (bytes, old) =>
        explained(() => {
          makeMissing(folder)
          return replaceFile({
            folder: within(folder),
            name,
            bytes,
            before: file && { ...file, bytes: old },
          })
        }),
      [Symbol.dispose]() {
        if (file) closeSync(file.fd)
        closeSync(folder.fd)
      },
    }
  } catch (error) {
    closeSync(folder.fd)
    throw error
  }
}

/** Reading from a descriptor moves its position, so a second read would give nothing. */
function readOnce(fd: number): () => Buffer {
  let bytes: Buffer | undefined
  return () => (bytes ??= readFileSync(fd))
}

function showPlace(place: string): string {
  return isInside(Instance.worktree, place) ? relative(Instance.directory, place) : place
}

/** Must run before the file is checked: a leftover of a killed process would count as a second hard link. */
function cleanOnce(folder: Folder, path: string) {
  if (cleaned().has(path)) return
  cleaned().add(path)
  removeLeftovers(within(folder))
}

/** A leading `..` is allowed, because our tools show such paths. After a name it is refused: if the name is a link,
 * `..` leads elsewhere. */
function refuseName(path: string) {
  if (path.includes("\0")) throw new PathInvalid(path, "it has a NUL byte")
  if (/^~[\\/]/.test(path))
    throw new PathInvalid(
      path,
      '"~" is not expanded; write the whole path, or "./~/…" for a folder of that name',
    )
  if (/[\\/]$/.test(path)) throw new PathInvalid(path, "it ends like a folder; name a file")
  const inner = path.replace(/^(\.\.?[\\/])+/, "")
  if (inner.split(/[\\/]/).includes(".."))
    throw new PathInvalid(path, 'it has a ".." segment; write the path without it')
}

function allowed({ granted = [] }: Context): string[] {
  return [realpathSync(Instance.worktree), ...granted.filter(isAbsolute)]
}

/** The deepest existing folder of a path, and the names of the missing ones. */
function openFolder(path: string, missing: string[] = []): Folder {
  try {
    return { fd: openSync(path, constants.O_RDONLY | constants.O_DIRECTORY), path, missing }
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || dirname(path) === path) throw error
    return openFolder(dirname(path), [basename(path), ...missing])
  }
}

function within({ fd, path }: Folder, name = ""): string {
  return join(process.platform === "linux" ? `/proc/self/fd/${fd}` : path, name)
}

function locate({ fd, path }: Folder): string {
  return process.platform === "linux" ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path)
}

function openFile(path: string, shown: string): { fd: number; stat: BigIntStats } | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return undefined
  if (found.isDirectory())
    throw new NamedError("Tool.NotAFile", `${JSON.stringify(shown)} is a folder; path must name a file.`, {
      path: shown,
    })
  if (!found.isFile()) throw new PathInvalid(shown, "it was swapped for something that is no file")
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
  const fd = openSync(path, flags)
  const stat = fstatSync(fd, { bigint: true })
  if (stat.isFile()) return { fd, stat }
  closeSync(fd)
  throw new PathInvalid(shown, "it was swapped for something that is no file")
}

/** Each folder is created in the open one above it and opened itself, never through a link. */
function makeMissing(folder: Folder) {
  for (let name = folder.missing.shift(); name !== undefined; name = folder.missing.shift()) {
    const path = within(folder, name)
    makeFolder(path)
    const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    closeSync(folder.fd)
    folder.fd = fd
    folder.path = join(folder.path, name)
  }
}

/** Replaces system errors, which name internal paths, by errors with the shown path and the reason. */
function explain<T>(shown: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = errorCode(error)
    const reason = code === undefined ? undefined : reasons[code]
    if (reason === undefined) throw error
    throw new NamedError(
      "Tool.WriteFailed",
      `${JSON.stringify(shown)} cannot be written: ${reason}`,
      { path: shown },
      { cause: error },
    )
  }
}
