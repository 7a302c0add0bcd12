// Keys that a person stored with `vitamin auth login`: `auth.json` in the data folder, readable by its owner only.
import * as Secret from "#kernel/secret/secret.ts"
import { createPrivateJson } from "#kernel/storage/private-json.ts"
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

type Stored = { key: string; time: number }

const { read, update } = createPrivateJson<Stored>({
  name: "auth",
  isEntry: isStored,
  refuse: (file, reason) => new UnsafeLogins(file, reason),
})

/** Stores a key for a provider; it replaces an earlier one. */
export async function login(providerId: string, key: string): Promise<void> {
  const word = key.trim()
  if (!/^[\x21-\x7e]+$/.test(word)) throw new InvalidKey(providerId)
  Secret.register(word, `${providerId} key`)
  await update((stored) => ({ ...stored, [providerId]: { key: word, time: Date.now() } }))
}

/** Removes a key. Returns whether there was one. */
export async function logout(providerId: string): Promise<boolean> {
  if (!Object.hasOwn(read(), providerId)) return false
  await update(({ [providerId]: _, ...rest }) => rest)
  return true
}

export function storedKey(providerId: string): string | undefined {
  const stored = read()
  return Object.hasOwn(stored, providerId) ? stored[providerId]!.key : undefined
}

function isStored(value: unknown): boolean {
  return typeof (value as Stored | null)?.key === "string"
}
