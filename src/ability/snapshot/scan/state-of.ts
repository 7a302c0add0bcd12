// The current state of a path of the work tree. A path through a symbolic link is not in the work tree: nothing is
// there.
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from "node:fs"
import { dirname, join } from "node:path"
import type { ObjectStore } from "#ability/snapshot/store/object-store.ts"
import type { State } from "#ability/snapshot/store/part.ts"
import { errorCode } from "#util/error.ts"
import { isMixOf } from "#util/file/write-file.ts"

type Place = { root: string; store: ObjectStore }
type Reading = { store: ObjectStore; keep: boolean; maxBytes: number }

const usualMax = 100_000_000

/** `keep` also puts the bytes into the store. It blocks, so that no other code of ours runs between the check and the
 * read. */
export function stateOf(
  { root, store }: Place,
  path: string,
  { keep = false, maxBytes = usualMax }: { keep?: boolean; maxBytes?: number } = {},
): State {
  const look = { store, keep, maxBytes }
  const place = join(root, path)
  const stat = statAt(root, path)
  if (!stat) return null
  const mode = Number(stat.mode & 0o7777n)
  if (stat.isSymbolicLink()) return linkState(place, mode, look)
  if (stat.isDirectory()) return { kind: "folder", mode, size: 0 }
  if (!stat.isFile()) return specialState(stat)
  const size = Number(stat.size)
  const unread: State = { kind: "file", mode, size, stamp: stampOf(stat), ...namesOf(stat) }
  if (size > maxBytes) return unread
  const fd = openFile(place)
  if (typeof fd !== "number") return fd === "gone" ? null : unread
  try {
    return fileState(fd, look)
  } finally {
    closeSync(fd)
  }
}

/** Whether a write in place was cut off there: it is still the file that it was, and every byte is one of the two
 * versions. */
export async function isHalfWritten(
  { root, store }: Place,
  path: string,
  { from, to }: { from: State; to: State },
): Promise<boolean> {
  if (!to?.inode || !from?.hash || !to.hash || from.hash === to.hash) return false
  const stat = statAt(root, path)
  if (!stat?.isFile() || String(stat.ino) !== to.inode || stat.size > Math.max(from.size, to.size))
    return false
  const found = await store.readSome([from.hash, to.hash])
  const [one, other] = [found.get(from.hash), found.get(to.hash)]
  return one !== undefined && other !== undefined && isMixOf(readFileSync(join(root, path)), one, other)
}

/** Does not follow a link at the last name. Undefined if a folder above it is a link. */
export function statAt(root: string, path: string): BigIntStats | undefined {
  try {
    const parent = join(root, dirname(path))
    if (realpathSync.native(parent) !== parent) return undefined
    return lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "EACCES") return undefined
    throw error
  }
}

/** The folders above a path that are not there, the deepest first. */
export function missingFolders(root: string, path: string): string[] {
  const missing: string[] = []
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    if (statAt(root, folder)?.isDirectory()) break
    missing.push(folder)
  }
  return missing
}

/** Changes with every change of a file, as far as the clock of the file system can tell. */
export function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`
}

/** Only an error of opening means that the file is missing; if storing the bytes fails, the file still exists. */
function openFile(place: string): number | "gone" | "closed" {
  try {
    return openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT") return "gone"
    if (code === "EACCES" || code === "ELOOP") return "closed"
    throw error
  }
}

function linkState(place: string, mode: number, { store, keep }: Reading): State {
  const target = readlinkSync(place, { encoding: "buffer" })
  return { kind: "link", mode, size: target.length, hash: keep ? store.put(target) : store.hashOf(target) }
}

function fileState(fd: number, { store, keep, maxBytes }: Reading): State {
  const stat = fstatSync(fd, { bigint: true })
  const mode = Number(stat.mode & 0o7777n)
  if (!stat.isFile()) return specialState(stat)
  if (stat.size > BigInt(maxBytes))
    return { kind: "file", mode, size: Number(stat.size), stamp: stampOf(stat), ...namesOf(stat) }
  const bytes = readFileSync(fd)
  const hash = keep ? store.put(bytes) : store.hashOf(bytes)
  return { kind: "file", mode, size: bytes.length, hash, ...namesOf(stat) }
}

/** A named pipe, a socket or a device: it has no bytes, so its inode identifies it. */
function specialState(stat: BigIntStats): State {
  return {
    kind: "other",
    mode: Number(stat.mode & 0o7777n),
    size: 0,
    stamp: `${specialKind(stat)} ${stat.ino}`,
  }
}

export function specialKind(stat: BigIntStats | Dirent): string {
  if (stat.isFIFO()) return "named pipe"
  return stat.isSocket() ? "socket" : "device"
}

/** The inode of a file that has several names: writing through one of them changes all. */
function namesOf({ nlink, ino }: BigIntStats): { inode?: string } {
  return nlink > 1n ? { inode: String(ino) } : {}
}
