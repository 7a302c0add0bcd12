// A file with secrets that only its owner can read. It is opened before it is checked, and never through a link, so that it
// cannot be swapped in between; it is replaced whole, so that nobody reads half of it.
import { randomBytes } from "node:crypto"
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { errorCode } from "#util/error.ts"
import * as Log from "./log.ts"

/** Creates the error for a file that cannot be trusted. */
type Refuse = (reason: string) => Error

const maxBytes = 1 << 20

/** The content of the file; undefined if there is none. Access of other users is removed. */
export function read(file: string, refuse: Refuse): string | undefined {
  const fd = open(file, refuse)
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw refuse("it is not a plain file")
    if (!isOwn(stat.uid)) throw refuse("it belongs to another user")
    if (stat.size > maxBytes) throw refuse("it is too long")
    if (stat.mode & 0o077) {
      Log.warn("other users could read a file with secrets; their access was removed", { file })
      fchmodSync(fd, 0o600)
    }
    return readFileSync(fd, "utf8")
  } finally {
    closeSync(fd)
  }
}

/** Without `replace`, an existing file stays and EEXIST is thrown. A link is replaced, not followed. */
export function write(file: string, text: string, { replace }: { replace: boolean }): void {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  try {
    const fd = openSync(temporary, "wx", 0o600)
    try {
      writeFileSync(fd, text)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    if (replace) renameSync(temporary, file)
    else linkSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

export function isOwn(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid
}

function open(file: string, refuse: Refuse): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    if (errorCode(error) === "ELOOP") throw refuse("it is a symbolic link")
    throw error
  }
}
