// Storage inside the sandbox: every record is the parent's. A change is made here and sent with the hash of what it began
// with; if the record changed meanwhile, it is made again. What the parent tells is not asked for.
import { z } from "zod"
import { Swapped, Told } from "#edge/sandbox/wire/doors.ts"
import type { Peer } from "#edge/sandbox/wire/peer.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { hashText } from "#util/hash-text.ts"

const mostTries = 20
const batch = 200
/** Texts of records that this process wrote last, so that a message can be written again without reading it. */
const mostKnown = 500

type Ask = Peer["ask"]

type GuestRecords = Readonly<{
  backend: Storage.Backend
  /** Takes the records of a prompt, as they were when it was sent. */
  prepare(records: Told[]): void
  /** The first request to the model: from here on only what the parent keeps up to date is not asked for. */
  begin(): void
  /** Takes records that the parent keeps up to date. */
  tell(args: unknown): void
}>

export function createGuestRecords(ask: Ask): GuestRecords {
  const known = new Map<string, string>()
  /** By path: the records of the beginning, and those that the parent keeps up to date. */
  const first = new Map<string, Told["value"]>()
  const kept = new Map<string, Told["value"]>()

  function told(key: Storage.Key): Told["value"] | undefined {
    const path = key.join("/")
    return kept.has(path) ? kept.get(path) : first.get(path)
  }

  async function textOf(key: Storage.Key): Promise<string | undefined> {
    const text = told(key)
    if (typeof text === "string" || text === null) return text ?? undefined
    return ((await asked(key, "record.get", { key })) as string | null) ?? undefined
  }

  async function list(prefix: Storage.Key): Promise<string[]> {
    const names = told(prefix)
    return Array.isArray(names) ? names : ((await asked(prefix, "record.list", { prefix })) as string[])
  }

  /** What this process changes is another one than at the beginning. */
  function forget(key: Storage.Key): void {
    for (const path of [key, key.slice(0, -1)]) first.delete(path.join("/"))
  }

  /** The errors that callers tell apart are those of Storage. */
  async function asked(key: Storage.Key, name: string, args: unknown): Promise<unknown> {
    try {
      return await ask(name, args)
    } catch (error) {
      const { name, message } = error as Error
      if (name === "Storage.Corrupt") throw new Storage.Corrupt(key, message, undefined)
      if (name === "Storage.InvalidKey") throw new Storage.InvalidKey(key, message)
      throw error
    }
  }

  async function read<T>(key: Storage.Key): Promise<T> {
    const text = await textOf(key)
    if (text === undefined) throw new Storage.NotFound(key)
    return JSON.parse(text)
  }

  async function readEach<T>(
    prefix: Storage.Key,
    names: Iterable<string>,
    take: (value: T, name: string) => void,
  ): Promise<void> {
    // A generator depends on what `take` has received, so it is asked name by name.
    const size = Array.isArray(names) ? batch : 1
    let next: string[] = []
    const flush = async () => {
      const texts = (await asked(prefix, "record.many", { prefix, names: next })) as (string | null)[]
      for (const [i, name] of next.entries()) if (texts[i]) take(JSON.parse(texts[i]), name)
      next = []
    }
    for (const name of names) if (next.push(name) === size) await flush()
    if (next.length) await flush()
  }

  async function write(key: Storage.Key, data: unknown): Promise<void> {
    forget(key)
    await asked(key, "record.put", { key, text: JSON.stringify(data) })
  }

  async function update<T>(
    key: Storage.Key,
    change: (draft: T) => unknown,
    { initial, removes }: { initial?: Partial<T>; removes?: Storage.Key | undefined } = {},
  ): Promise<T> {
    const path = key.join("/")
    // A record that may be new is not read first: most are. One that changed meanwhile comes back.
    let before = known.get(path)
    // Callers rely on it that a record which must exist is changed later, not during this call.
    if (!initial) before = await (before ?? textOf(key))
    forget(key)
    // The parent knows which record goes with which message.
    if (removes) forget(removes)
    for (let tries = 0; tries < mostTries; tries++) {
      if (before === undefined && !initial) throw new Storage.NotFound(key)
      const value = before === undefined ? structuredClone(initial) : JSON.parse(before)
      change(value)
      const after = JSON.stringify(value)
      const swap = { key, before: before === undefined ? null : hashText(before), after }
      // The next change may begin before this one is acknowledged. If it is refused, the next one finds another record.
      remember(path, after)
      const { isStored, text } = Swapped.parse(await asked(key, "record.swap", swap))
      if (isStored && text === null) return value
      if (text === null) known.delete(path)
      else remember(path, text)
      if (isStored) return JSON.parse(text!)
      before = text ?? undefined
    }
    throw new Error(`The record ${path} changes too often.`)
  }

  function remember(path: string, text: string): void {
    known.delete(path)
    known.set(path, text)
    if (known.size > mostKnown) known.delete(known.keys().next().value!)
  }

  const refused = () => Promise.reject(new Error("Records are repaired outside of the sandbox."))
  const backend = Object.freeze({
    read,
    readEach,
    write,
    update,
    isKnownMissing: (key: Storage.Key) => told(key) === null,
    async remove(key: Storage.Key) {
      forget(key)
      await asked(key, "record.remove", { key })
    },
    list,
    newest: () => Promise.reject(new Error("Sessions are listed outside of the sandbox.")),
    quarantined: async () => [],
    quarantine: refused,
    readQuarantined: refused,
    headOf: refused,
    dropQuarantined: refused,
    discard: refused,
    check: refused,
    close: async () => {},
  }) satisfies Storage.Backend
  return Object.freeze({
    backend,
    prepare(records: Told[]) {
      first.clear()
      for (const { key, value } of records) first.set(key.join("/"), value)
    },
    begin: () => first.clear(),
    tell(args: unknown) {
      for (const { key, value } of z.array(Told).parse(args)) kept.set(key.join("/"), value)
    },
  })
}
