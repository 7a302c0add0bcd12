// What is at a path of the work tree right now. A path that leads through a symbolic link is not in the work tree: there
// is nothing at it.
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
import { dirname, join } from "node:path"
import { errorCode } from "#util/error.ts"
import type { ObjectStore } from "./object-store.ts"
import type { State } from "./part.ts"

/** `keep` also puts the bytes into the store. */
type Look = { store: ObjectStore; keep: boolean; maxBytes: number }

/** Blocking: each look takes microseconds, and nothing of ours comes between the look and the bytes. */
export function stateOf(root: string, path: string, look: Look): State {
  const place = join(root, path)
  const stat = statAt(root, path)
  if (!stat) return null
  const mode = Number(stat.mode & 0o7777n)
  if (stat.isSymbolicLink()) return linkState(place, mode, look)
  if (!stat.isFile()) return { kind: stat.isDirectory() ? "folder" : "other", mode, size: 0 }
  const size = Number(stat.size)
  const unread: State = { kind: "file", mode, size, stamp: stampOf(stat) }
  if (size > look.maxBytes) return unread
  const fd = openFile(place)
  if (typeof fd !== "number") return fd === "gone" ? null : unread
  try {
    return fileState(fd, look)
  } finally {
    closeSync(fd)
  }
}

/** Without following the last name, and only where the names before it are folders and not links. */
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

/** Changes with every change of a file, as far as the clock of the file system can tell. */
export function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`
}

/** Only what opening says counts here: if keeping the bytes fails, the file is there all the same. */
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

function linkState(place: string, mode: number, { store, keep }: Look): State {
  const target = readlinkSync(place, { encoding: "buffer" })
  return { kind: "link", mode, size: target.length, hash: keep ? store.put(target) : store.hashOf(target) }
}

function fileState(fd: number, { store, keep, maxBytes }: Look): State {
  const stat = fstatSync(fd, { bigint: true })
  const mode = Number(stat.mode & 0o7777n)
  if (!stat.isFile()) return { kind: "other", mode, size: 0 }
  if (stat.size > BigInt(maxBytes))
    return { kind: "file", mode, size: Number(stat.size), stamp: stampOf(stat) }
  const bytes = readFileSync(fd)
  return { kind: "file", mode, size: bytes.length, hash: keep ? store.put(bytes) : store.hashOf(bytes) }
}
