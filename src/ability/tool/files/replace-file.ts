// A file's whole content, put in its place by a rename, so that nobody sees half of it and a full disk costs nothing.
// Where a rename would change more than the content (hard links, another owner) it is written in place. It is not
// synced: as with any editor, the file system orders the rename after the data.
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs"
import { join } from "node:path"
import { errorCode, NamedError } from "#util/error.ts"
import { temporaryName } from "#util/file/temporary-file.ts"
import { writeAll, writeInPlace as writeInto } from "#util/file/write-in-place.ts"

/** The file that was there, open, as it was when it was looked at. */
export type Before = { fd: number; stat: BigIntStats; bytes: Buffer | undefined }
type Writing = { target: string; bytes: Buffer; before: Before | undefined }

/** What a rename may fail with where writing into the file may still work. */
const inPlaceAfter = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV", "ENOTSUP", "EOPNOTSUPP"])

class Swapped extends NamedError {
  constructor() {
    super("Tool.Swapped", "The file was changed by somebody else at this moment. Read it again.")
  }
}

export function replaceFile(options: {
  folder: string
  name: string
  bytes: Buffer
  before: Before | undefined
}): BigIntStats {
  const { folder, name, bytes, before } = options
  const writing = { target: join(folder, name), bytes, before }
  if (before && before.stat.nlink > 1n) return writeInPlace(before, writing)
  try {
    return writeBeside(join(folder, temporaryName()), writing)
  } catch (error) {
    if (!before || !inPlaceAfter.has(errorCode(error) ?? "")) throw error
    return writeInPlace(before, writing)
  }
}

export function makeFolder(path: string) {
  try {
    mkdirSync(path)
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error
  }
}

function writeBeside(temporary: string, { target, bytes, before }: Writing): BigIntStats {
  const fd = openSync(temporary, "wx", before ? 0o600 : 0o666)
  let left = true
  try {
    writeAll(fd, bytes, 0)
    if (before) {
      keepOwner(fd, before.stat)
      refuseSwapped(target, before.stat)
      renameSync(temporary, target)
      left = false
    } else left = putNew(temporary, target)
    return fstatSync(fd, { bigint: true })
  } finally {
    closeSync(fd)
    if (left) rmSync(temporary, { force: true })
  }
}

/** A link never takes the place of what somebody else made meanwhile; a rename would. Gives whether the first name is left. */
function putNew(temporary: string, target: string): boolean {
  try {
    linkSync(temporary, target)
    return true
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw error
  }
  // Some file systems have no links.
  renameSync(temporary, target)
  return false
}

function keepOwner(fd: number, { uid, gid, mode }: BigIntStats) {
  const made = fstatSync(fd, { bigint: true })
  if (made.uid !== uid || made.gid !== gid) fchownSync(fd, Number(uid), Number(gid))
  fchmodSync(fd, Number(mode & 0o7777n))
}

/** The last look before it is too late. */
function refuseSwapped(target: string, stat: BigIntStats) {
  const now = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  if (!now || !isSame(now, stat)) throw new Swapped()
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs
}

/** Whatever goes wrong, the old content is put back. */
function writeInPlace(before: Before, { target, bytes }: Writing): BigIntStats {
  const size = Number(before.stat.size)
  const fd = reopen(before, target)
  try {
    const old = before.bytes ?? readFileSync(fd)
    try {
      writeInto(fd, bytes)
    } catch (error) {
      ftruncateSync(fd, size)
      writeAll(fd, old, 0)
      throw error
    }
    return fstatSync(fd, { bigint: true })
  } finally {
    closeSync(fd)
  }
}

/** The very file that was looked at, not what has its name by now. */
function reopen({ fd, stat }: Before, target: string): number {
  const again =
    process.platform === "linux"
      ? openSync(`/proc/self/fd/${fd}`, constants.O_RDWR | constants.O_NONBLOCK)
      : openSync(target, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  if (isSame(fstatSync(again, { bigint: true }), stat)) return again
  closeSync(again)
  throw new Swapped()
}
