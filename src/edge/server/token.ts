// The server's token: 256 random bits in a file that only its owner can read. Anyone who can read the file can use the
// server. So permissions that are too open are repaired, and symbolic links and files of other users are refused.
import { randomBytes } from "node:crypto"
import { chmodSync, lstatSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"
import * as Log from "#kernel/process/log.ts"
import * as PrivateFile from "#kernel/process/private-file.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"

export class UnsafeFile extends NamedError {
  constructor(path: string, reason: string) {
    super(
      "Token.UnsafeFile",
      `The token cannot be stored at ${path}: ${reason}. Remove it and start again.`,
      {
        path,
      },
    )
  }
}

class NotWritable extends NamedError {
  constructor(folder: string, cause: unknown) {
    super(
      "Token.NotWritable",
      `The state folder ${folder}, which the server needs for its token, cannot be written ` +
        `(${errorCode(cause) ?? errorText(cause)}). Make it writable, or set XDG_STATE_HOME to another folder.`,
      { folder },
      { cause },
    )
  }
}

/** The token. The first start creates it. */
export function load(): { token: string; file: string } {
  const file = SecretFiles.tokenFile()
  makeFolder(dirname(file))
  secureFolder(dirname(file))
  let token = read(file)
  if (token === undefined) token = create(file, { replace: false })
  if (!SecretFiles.isToken(token)) {
    Log.warn("the token file had no token in it and has been replaced", { file })
    token = create(file, { replace: true })
  }
  Secret.register(token, "server token")
  return { token, file }
}

/** The token, if a server was started on this machine. Creates nothing. */
export function find(): string | undefined {
  const token = read(SecretFiles.tokenFile())
  if (token === undefined || !SecretFiles.isToken(token)) return undefined
  Secret.register(token, "server token")
  return token
}

/** Throws our own error: Node's message often gives a wrong reason for a read-only parent folder. */
function makeFolder(folder: string) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new NotWritable(folder, error)
  }
}

function secureFolder(folder: string) {
  const stat = lstatSync(folder)
  if (!stat.isDirectory()) throw new UnsafeFile(folder, "it is a symbolic link, not a folder")
  if (!PrivateFile.isOwn(stat.uid)) throw new UnsafeFile(folder, "it belongs to another user")
  if ((stat.mode & 0o077) === 0) return
  Log.warn("other users could read the state folder; their access was removed", { folder })
  chmodSync(folder, 0o700)
}

function read(file: string): string | undefined {
  return PrivateFile.read(file, (reason) => new UnsafeFile(file, reason))?.trim()
}

/** If two servers start at the same time, both use the token that was written first. */
function create(file: string, { replace }: { replace: boolean }): string {
  const token = randomBytes(32).toString("base64url")
  try {
    PrivateFile.write(file, `${token}\n`, { replace })
    return token
  } catch (error) {
    if (errorCode(error) !== "EEXIST" || replace) throw new NotWritable(dirname(file), error)
    return read(file) ?? ""
  }
}
