// The server's token: 256 random bits in a file that only its owner can read. Whoever can read the file may use the
// server, so a file or folder that is not plainly the owner's is repaired or refused.
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import * as Global from "#kernel/global.ts"
import * as Log from "#kernel/log.ts"
import * as Secret from "#kernel/secret.ts"
import { errorCode, NamedError } from "#util/error.ts"

export class UnsafeFile extends NamedError {
  constructor(path: string, reason: string) {
    super("Token.UnsafeFile", `The token cannot be kept at ${path}: ${reason}. Remove it and start again.`, {
      path,
    })
  }
}

const wellFormed = /^[\w-]{43,}$/

/** The token, made at the first start and kept since. */
export function load(): { token: string; file: string } {
  const folder = Global.state()
  const file = join(folder, "token")
  secureFolder(folder)
  let token = read(file)
  if (token === undefined) token = create(file, { replace: false })
  if (!wellFormed.test(token)) {
    Log.warn("the token file was empty or too short and has been replaced", { file })
    token = create(file, { replace: true })
  }
  Secret.hold(token, "server token")
  return { token, file }
}

function secureFolder(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = lstatSync(folder)
  if (!stat.isDirectory()) throw new UnsafeFile(folder, "it is a symbolic link, not a folder")
  if (!isOwn(stat.uid)) throw new UnsafeFile(folder, "it belongs to another user")
  if ((stat.mode & 0o077) === 0) return
  Log.warn("the state folder was open to other users and has been closed", { folder })
  chmodSync(folder, 0o700)
}

/** What the file says, or undefined when there is none. Opened first, then checked: it cannot be swapped between. */
function read(file: string): string | undefined {
  const fd = openFile(file)
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new UnsafeFile(file, "it is not a plain file")
    if (!isOwn(stat.uid)) throw new UnsafeFile(file, "it belongs to another user")
    if (stat.mode & 0o077) {
      Log.warn("the token file was open to other users and has been closed", { file })
      fchmodSync(fd, 0o600)
    }
    return stat.size > 4096 ? "" : readFileSync(fd, "utf8").trim()
  } finally {
    closeSync(fd)
  }
}

function openFile(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    if (errorCode(error) === "ELOOP") throw new UnsafeFile(file, "it is a symbolic link")
    throw error
  }
}

/** Nobody ever sees half a token; of two servers that start at once, both use the one that was there first. */
function create(file: string, { replace }: { replace: boolean }): string {
  const token = randomBytes(32).toString("base64url")
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  try {
    const fd = openSync(temporary, "wx", 0o600)
    try {
      writeFileSync(fd, `${token}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    if (replace) renameSync(temporary, file)
    else linkSync(temporary, file)
    return token
  } catch (error) {
    if (errorCode(error) !== "EEXIST" || replace) throw error
    return read(file) ?? ""
  } finally {
    rmSync(temporary, { force: true })
  }
}

function isOwn(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid
}
