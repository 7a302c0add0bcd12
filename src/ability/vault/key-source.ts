// Gets the key of the vault: from a passphrase (VITAMIN_VAULT_PASSPHRASE, or the person types it), or from the system's
// keyring. The model has no part in this.
import { randomBytes, scrypt } from "node:crypto"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import type { Person } from "./ask-person.ts"
import * as Keyring from "./keyring.ts"
import { type Lock, type Sealed, WrongKey } from "./vault-file.ts"

export type Key = { lock: Lock; key: Buffer }

const attempts = 3
const shortest = 8
/** As OWASP recommends: 128 MB for each attempt to guess. */
const cost = { N: 1 << 17, r: 8, p: 1 }

class Locked extends NamedError {
  constructor(reason: string) {
    super("Vault.Locked", `The vault is locked: ${reason}`)
  }
}

/** The key of an existing vault. */
export async function findKey(sealed: Sealed, person: Person | undefined): Promise<Key> {
  const { lock } = sealed
  if (lock.from === "keyring") {
    const key = await Keyring.lookup(lock.id)
    if (!key)
      throw new Locked("its key is in the keyring of the system, which does not give it. Unlock the keyring.")
    return { lock, key }
  }
  const given = passphraseOfVariable()
  if (given !== undefined) return tried(sealed, { lock, key: await derive(given, lock) })
  for (let attempt = 1; ; attempt++) {
    const again = attempt === 1 ? "" : "That was not it. "
    const typed = await person?.({
      message: `${again}Type the passphrase of your vault. The model does not see it.`,
      fields: { passphrase: "Passphrase" },
    })
    if (!typed?.passphrase) throw new Locked(howToUnlock)
    Secret.register(typed.passphrase, "vault passphrase")
    try {
      return tried(sealed, { lock, key: await derive(typed.passphrase, lock) })
    } catch (error) {
      if (!(error instanceof WrongKey) || attempt === attempts) throw error
    }
  }
}

/** The key of a new vault: of the passphrase in the variable, else in the keyring, else of a passphrase that the person
 * chooses. */
export async function createKey(person: Person | undefined): Promise<Key> {
  const given = passphraseOfVariable()
  if (given !== undefined) return fromPassphrase(given)
  const lock = { from: "keyring", id: createId("vault") } as const
  const key = randomBytes(32)
  if (await Keyring.store(lock.id, key)) return { lock, key }
  const typed = await person?.({
    message: `There is no vault yet, and no keyring of the system. Choose a passphrase for the vault, at least ${shortest} characters. It cannot be recovered. The model does not see it.`,
    fields: { passphrase: "Passphrase", again: "The same again" },
  })
  if (!typed?.passphrase) throw new Locked(howToUnlock)
  if (typed.passphrase !== typed.again) throw new Locked("the two passphrases differ. Try again.")
  return fromPassphrase(typed.passphrase)
}

/** A key that was created and is not used. */
export async function discardKey({ lock }: Key): Promise<void> {
  if (lock.from === "keyring") await Keyring.remove(lock.id)
}

const howToUnlock = `no passphrase was given. A person can type it at a terminal, or set ${Env.vaultPassphrase}.`

function passphraseOfVariable(): string | undefined {
  const given = Env.get(Env.vaultPassphrase) || undefined
  Secret.register(given, "vault passphrase")
  return given
}

function fromPassphrase(passphrase: string): Promise<Key> {
  if (passphrase.length < shortest)
    throw new Locked(`a passphrase has at least ${shortest} characters. Choose a longer one.`)
  Secret.register(passphrase, "vault passphrase")
  const lock = { from: "passphrase", salt: randomBytes(16).toString("base64"), scrypt: cost } as const
  return derive(passphrase, lock).then((key) => ({ lock, key }))
}

/** Throws if the key does not open the vault. */
function tried(sealed: Sealed, found: Key): Key {
  sealed.open(found.key)
  return found
}

function derive(passphrase: string, lock: Lock & { from: "passphrase" }): Promise<Buffer> {
  const { N, r, p } = lock.scrypt
  const options = { N, r, p, maxmem: 256 * N * r * p }
  return new Promise((resolve, reject) =>
    scrypt(passphrase.normalize("NFC"), Buffer.from(lock.salt, "base64"), 32, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}
