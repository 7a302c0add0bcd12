// Storage inside the sandbox: every record is the parent's. A change is made here and sent with the hash of what it began
// with; if the record changed meanwhile, it is made again.
import { Swapped } from "#edge/sandbox/wire/doors.ts"
import type { Peer } from "#edge/sandbox/wire/peer.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { hashText } from "#util/hash-text.ts"

const mostTries = 20
const batch = 200
/** Texts of records that this process wrote last, so that a message can be written again without reading it. */
const mostKnown = 500

type Ask = Peer["ask"]

export function createGuestRecords(ask: Ask): Storage.Backend {
  const known = new Map<string, string>()

  async function textOf(key: Storage.Key): Promise<string | undefined> {
    return ((await asked(key, "record.get", { key })) as string | null) ?? undefined
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
    await asked(key, "record.put", { key, text: JSON.stringify(data) })
  }

  async function update<T>(
    key: Storage.Key,
    change: (draft: T) => unknown,
    { initial }: { initial?: Partial<T> } = {},
  ): Promise<T> {
    const path = key.join("/")
    // A record that may be new is not read first: most are.
    let before = initial ? known.get(path) : await textOf(key)
    for (let tries = 0; tries < mostTries; tries++) {
      if (before === undefined && !initial) throw new Storage.NotFound(key)
      const value = before === undefined ? structuredClone(initial) : JSON.parse(before)
      change(value)
      const after = JSON.stringify(value)
      const swap = { key, before: before === undefined ? null : hashText(before), after }
      const { isStored, text } = Swapped.parse(await asked(key, "record.swap", swap))
      if (isStored) {
        remember(path, text ?? after)
        return text === null ? value : JSON.parse(text)
      }
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
  return Object.freeze({
    read,
    readEach,
    write,
    update,
    isKnownMissing: () => false,
    remove: async (key: Storage.Key) => void (await asked(key, "record.remove", { key })),
    list: async (prefix: Storage.Key) => (await asked(prefix, "record.list", { prefix })) as string[],
    quarantined: () => [],
    quarantine: refused,
    discard: refused,
  }) satisfies Storage.Backend
}
