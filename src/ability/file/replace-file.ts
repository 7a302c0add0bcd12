// Replaces a file's content by a rename, so that nobody reads half of it and a full disk loses nothing. If a rename
// would change more than the content (hard links, another owner), the file is written in place. It is not synced: as
// with any editor, the file system orders the rename after the data.
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
import { temporaryName, writeAll, writeInPlace as writeInto } from "#util/file/write-file.ts"

/** The open file that existed when it was checked. */
export type Before = { fd: number; stat: BigIntStats; bytes: Buffer | undefined }
type Writing = { target: string; bytes: Buffer; before: Before | undefined }

/** Rename errors after which writing in place may still work. */
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

/** `link` never replaces what somebody else created meanwhile; a rename would. Returns whether the temporary name is
 * left. */
function putNew(temporary: string, target: string): boolean {
  try {
    linkSync(temporary, target)
    return true
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw error
  }
  // Some file systems have no hard links.
  renameSync(temporary, target)
  return false
}

function keepOwner(fd: number, { uid, gid, mode }: BigIntStats) {
  const made = fstatSync(fd, { bigint: true })
  if (made.uid !== uid || made.gid !== gid) fchownSync(fd, Number(uid), Number(gid))
  fchmodSync(fd, Number(mode & 0o7777n))
}

/** The last check before the change. */
function refuseSwapped(target: string, stat: BigIntStats) {
  const now = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  if (!now || !isSame(now, stat)) throw new Swapped()
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs
}

/** On any error the old content is restored. */
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

/** Opens the file that was checked, even if another file has its name by now. */
function reopen({ fd, stat }: Before, target: string): number {
  const again =
    process.platform === "linux"
      ? openSync(`/proc/self/fd/${fd}`, constants.O_RDWR | constants.O_NONBLOCK)
      : openSync(target, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  if (isSame(fstatSync(again, { bigint: true }), stat)) return again
  closeSync(again)
  throw new Swapped()
}
