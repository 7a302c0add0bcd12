// A file that holds a secret and is its owner's alone. It is opened before it is checked, never through a link, and
// replaced whole, so that nothing is swapped in between and nobody sees half of it.
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

/** Makes the error of a file that cannot be relied on. */
type Refuse = (reason: string) => Error

const maxBytes = 1 << 20

/** What the file says, or undefined when there is none. One that others can read is closed to them. */
export function read(file: string, refuse: Refuse): string | undefined {
  const fd = open(file, refuse)
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw refuse("it is not a plain file")
    if (!isOwn(stat.uid)) throw refuse("it belongs to another user")
    if (stat.size > maxBytes) throw refuse("it is too long")
    if (stat.mode & 0o077) {
      Log.warn("a file with secrets was open to other users and has been closed", { file })
      fchmodSync(fd, 0o600)
    }
    return readFileSync(fd, "utf8")
  } finally {
    closeSync(fd)
  }
}

/** Write the file whole. Without `replace` one that is there already stays, and EEXIST is thrown. A rename takes the
 * place of a link instead of following it. */
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
