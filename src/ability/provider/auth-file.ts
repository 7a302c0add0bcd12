// Keys that a person stored with `vitamin auth login`: `auth.json` in the data folder, readable by its owner only. It is
// opened before it is checked, never through a link, and replaced whole, so that nobody sees half of it.
import { randomBytes } from "node:crypto"
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
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
import { createLock } from "#kernel/storage/lock.ts"
import { errorCode, NamedError } from "#util/error.ts"

export class UnsafeLogins extends NamedError {
  constructor(path: string, reason: string) {
    super(
      "Provider.UnsafeLogins",
      `Logins cannot be kept in ${path}: ${reason}. Move it away and log in again.`,
      {
        path,
      },
    )
  }
}

export class InvalidKey extends NamedError {
  constructor(providerId: string) {
    super("Provider.InvalidKey", `The key for "${providerId}" must be one word of visible characters.`, {
      providerId,
    })
  }
}

export type Login = { providerId: string; time: number }
type Stored = Record<string, { key: string; time: number }>

/** Keep a key for a provider, in place of the one that was there. */
export async function login(providerId: string, key: string): Promise<void> {
  const word = key.trim()
  if (!/^[\x21-\x7e]+$/.test(word)) throw new InvalidKey(providerId)
  Secret.hold(word, `${providerId} key`)
  await update((stored) => ({ ...stored, [providerId]: { key: word, time: Date.now() } }))
}

/** Forget a key. Says whether there was one. */
export async function logout(providerId: string): Promise<boolean> {
  if (!Object.hasOwn(read(), providerId)) return false
  await update(({ [providerId]: _, ...rest }) => rest)
  return true
}

/** Who is logged in, without the keys. */
export function logins(): Login[] {
  return Object.entries(read()).map(([providerId, { time }]) => ({ providerId, time }))
}

export function storedKey(providerId: string): string | undefined {
  const stored = read()
  return Object.hasOwn(stored, providerId) ? stored[providerId]!.key : undefined
}

/** One after the other across processes, so that two logins at once are both kept. */
async function update(change: (stored: Stored) => Stored): Promise<void> {
  mkdirSync(Global.data(), { recursive: true, mode: 0o700 })
  const lock = await createLock(join(Global.data(), "auth.lock"))
  try {
    await lock.acquire()
    try {
      write(change(read()))
    } finally {
      lock.release()
    }
  } finally {
    lock.close()
  }
}

function read(): Stored {
  const file = path()
  const fd = open(file)
  if (fd === undefined) return {}
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new UnsafeLogins(file, "it is not a plain file")
    if (process.getuid && stat.uid !== process.getuid())
      throw new UnsafeLogins(file, "it belongs to another user")
    if (stat.mode & 0o077) {
      Log.warn("the file of logins was open to other users and has been closed", { file })
      fchmodSync(fd, 0o600)
    }
    return parse(readFileSync(fd, "utf8"), file)
  } finally {
    closeSync(fd)
  }
}

function open(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    if (errorCode(error) === "ELOOP") throw new UnsafeLogins(file, "it is a symbolic link")
    throw error
  }
}

function parse(text: string, file: string): Stored {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && Object.values(value).every(isStored))
      return value as Stored
  } catch {
    // Said below: its text would show what the file holds.
  }
  throw new UnsafeLogins(file, "it is not the JSON that vitamin wrote")
}

function isStored(value: unknown): boolean {
  return typeof (value as Stored[string] | null)?.key === "string"
}

/** A rename takes the place of a link instead of following it. */
function write(stored: Stored) {
  const file = path()
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  try {
    const fd = openSync(temporary, "wx", 0o600)
    try {
      writeFileSync(fd, `${JSON.stringify(stored, null, 2)}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function path(): string {
  return join(Global.data(), "auth.json")
}
