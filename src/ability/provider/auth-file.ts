// Keys that a person stored with `vitamin auth login`: `auth.json` in the data folder, readable by its owner only.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Global from "#kernel/global.ts"
import * as PrivateFile from "#kernel/private-file.ts"
import * as Secret from "#kernel/secret.ts"
import { createLock } from "#kernel/storage/lock.ts"
import { NamedError } from "#util/error.ts"

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

export function storedKeys(): [providerId: string, key: string][] {
  return Object.entries(read()).map(([providerId, { key }]) => [providerId, key])
}

/** One after the other across processes, so that two logins at once are both kept. */
async function update(change: (stored: Stored) => Stored): Promise<void> {
  mkdirSync(Global.data(), { recursive: true, mode: 0o700 })
  const lock = await createLock(join(Global.data(), "auth.lock"))
  try {
    await lock.acquire()
    try {
      PrivateFile.write(path(), `${JSON.stringify(change(read()), null, 2)}\n`, { replace: true })
    } finally {
      lock.release()
    }
  } finally {
    lock.close()
  }
}

function read(): Stored {
  const file = path()
  const text = PrivateFile.read(file, (reason) => new UnsafeLogins(file, reason))
  return text === undefined ? {} : parse(text, file)
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

function path(): string {
  return join(Global.data(), "auth.json")
}
