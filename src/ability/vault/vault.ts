// The vault: secrets and keys by name, in one encrypted file of the data folder. Every value that was read or written is
// redacted from then on. A lock serialises the updates of all processes, and no update is written before the file is read
// whole.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"
import * as PrivateFile from "#kernel/process/private-file.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { createLock } from "#kernel/storage/lock.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import type { Person } from "./ask-person.ts"
import { createKey, discardKey, findKey, type Key } from "./key-source.ts"
import { Damaged, type Entry, parse, type Sealed, seal } from "./vault-file.ts"

export type { Person } from "./ask-person.ts"
export type { Entry } from "./vault-file.ts"

export type Kind = Entry["kind"]

/** Shorter values cannot be redacted: they would match ordinary words. */
const shortest = 8
/** A variable of a process holds 128 KB on Linux, a header less. */
const longest = 32_768
const maxFile = 1_000_000
const labelStart = "secret "

/** The key, so that the person is asked once. */
const unlocked = Instance.state(() => ({ key: undefined as Key | undefined }))

class NotFound extends NamedError {
  constructor(name: string, names: string[]) {
    const near = nearest(name, names)
    const hint = near ? ` Did you mean ${near}?` : names.length ? ` There are: ${names.join(", ")}` : ""
    super("Vault.NotFound", `The vault has no ${JSON.stringify(name)}.${hint}`, { name })
  }
}

class Refused extends NamedError {
  constructor(message: string) {
    super("Vault.Refused", message)
  }
}

/** All entries by name; none if there is no vault yet. */
export async function list(person: Person | undefined): Promise<Entry[]> {
  const opened = await open(person)
  return (opened?.entries ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export async function get(name: string, kind: Kind, person: Person | undefined): Promise<Entry> {
  return find(await list(person), name, kind)
}

/** Stores a secret. An existing one stays unless `replace` is set. */
export async function set(
  { name, value, replace = false }: { name: string; value: string; replace?: boolean },
  person: Person | undefined,
): Promise<{ replaced: boolean }> {
  checkValue(value)
  return update(person, (entries) => {
    const old = entries.find((entry) => entry.name === name)
    if (old && old.kind !== "secret") throw wrongKind(old)
    if (old && !replace)
      throw new Refused(`The vault has ${JSON.stringify(name)} already. replace: true overwrites it.`)
    Secret.hide(labelStart + name)
    if (old) Object.assign(old, { value, updated: Date.now() })
    else entries.push(createEntry(name, "secret", value))
    return { replaced: old !== undefined }
  })
}

/** The key of that name, which is made if there is none. */
export async function ensureKey(
  options: { name: string; kind: Kind; create: () => string },
  person: Person | undefined,
): Promise<{ entry: Entry; created: boolean }> {
  const { name, kind, create } = options
  const known = (await list(person)).some((entry) => entry.name === name)
  if (known) return { entry: await get(name, kind, person), created: false }
  return update(person, (entries) => {
    const old = entries.find((entry) => entry.name === name)
    if (old) return { entry: find(entries, name, kind), created: false }
    const entry = createEntry(name, kind, create())
    entries.push(entry)
    return { entry, created: true }
  })
}

export async function remove(name: string, person: Person | undefined): Promise<Entry> {
  find(await list(person), name)
  return update(person, (entries) => {
    const entry = find(entries, name)
    Secret.hide(labelStart + name)
    entries.splice(entries.indexOf(entry), 1)
    return entry
  })
}

/** The value is no longer redacted in this session until it is replaced or removed, because a rule allows the model to see it.
 * The session has it from then on, so this cannot end with the call. */
export function reveal({ name }: Entry, sessionId: string): void {
  Secret.show(sessionId, labelStart + name)
}

/** Whether a value is redacted because it is, or was, in the vault. */
export function isOwn(value: string): boolean {
  return Secret.labelOf(value)?.startsWith(`[${labelStart}`) === true
}

function file(): string {
  refuseInGuest("The vault")
  return join(Global.data(), "vault")
}

function readSealed(): Sealed | undefined {
  const text = PrivateFile.read(file(), (reason) => new Damaged(file(), reason))
  return text === undefined ? undefined : parse(text, file())
}

async function open(person: Person | undefined): Promise<{ key: Key; entries: Entry[] } | undefined> {
  const sealed = readSealed()
  if (!sealed) return undefined
  const own = unlocked()
  const key = isFor(own.key, sealed) ? own.key : await findKey(sealed, person)
  const entries = sealed.open(key.key)
  own.key = key
  redact(entries)
  return { key, entries }
}

/** The key is found before the lock is taken, because a person may take minutes to type it. If another process made the
 * vault meanwhile, its key is the one that counts. */
async function update<T>(person: Person | undefined, change: (entries: Entry[]) => T): Promise<T> {
  const opened = await open(person)
  const key = opened?.key ?? (await createKey(person))
  mkdirSync(Global.data(), { recursive: true, mode: 0o700 })
  const lock = await createLock(`${file()}.lock`)
  try {
    await lock.acquire()
    try {
      const sealed = readSealed()
      if (!sealed || isFor(key, sealed)) return write(key, sealed?.open(key.key) ?? [], change)
    } finally {
      lock.release()
    }
  } finally {
    lock.close()
  }
  if (!opened) await discardKey(key)
  return update(person, change)
}

function write<T>(key: Key, entries: Entry[], change: (entries: Entry[]) => T): T {
  const result = change(entries)
  const text = seal(entries, key)
  if (text.length > maxFile)
    throw new Refused(`The vault would be larger than ${maxFile} bytes. Remove something first.`)
  redact(entries)
  PrivateFile.write(file(), text, { replace: true })
  unlocked().key = key
  return result
}

function isFor(key: Key | undefined, { lock }: Sealed): key is Key {
  return key !== undefined && JSON.stringify(key.lock) === JSON.stringify(lock)
}

function redact(entries: Entry[]): void {
  for (const { name, value } of entries) Secret.registerEncoded(value, labelStart + name)
}

function createEntry(name: string, kind: Kind, value: string): Entry {
  const now = Date.now()
  return { name, kind, value, created: now, updated: now }
}

function find(entries: Entry[], name: string, kind?: Kind): Entry {
  const entry = entries.find((one) => one.name === name)
  if (!entry)
    throw new NotFound(
      name,
      entries.filter((one) => !kind || one.kind === kind).map((one) => one.name),
    )
  if (kind && entry.kind !== kind) throw wrongKind(entry)
  return entry
}

function wrongKind({ name, kind }: Entry): Refused {
  const what =
    kind === "secret" ? "a secret for secrets_use, not a key" : `a key (${kind}) for the crypto tools`
  return new Refused(`${JSON.stringify(name)} in the vault is ${what}. Choose another name.`)
}

function checkValue(value: string): void {
  const bytes = Buffer.byteLength(value)
  if (value.length < shortest)
    throw new Refused(
      `The value is shorter than ${shortest} characters. Such a value could not be redacted in outputs, so the vault does not take it.`,
    )
  if (bytes > longest) throw new Refused(`The value has ${bytes} bytes; the vault takes up to ${longest}.`)
  if (value.includes("\0") || !value.isWellFormed())
    throw new Refused("The value is not text. The vault takes text without NUL bytes.")
}
