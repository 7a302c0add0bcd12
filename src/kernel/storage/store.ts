// The records under one root: reads go straight to their files, changes go through the writer.
import { AsyncResource } from "node:async_hooks"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"
import { errorText } from "#util/error.ts"
import { Corrupt, InvalidData, InvalidKey, type Key, NotFound } from "./errors.ts"
import { fileOf, foldersOf, isJson, listRecords, quarantineFile, readRecord } from "./files.ts"
import { readEach } from "./read-each.ts"
import { type Change, createWriter } from "./writer.ts"

export type Store = ReturnType<typeof createStore>

// Whoever opens the store compares the records of two segments with their files: a few hundred are a few milliseconds.
const segment = { segmentBytes: 1 << 20, segmentRecords: 400 }

export function createStore(root: string) {
  const folders = foldersOf(root)
  const writer = createWriter(folders, segment)
  const changing = new Map<string, Promise<void>>()
  let ready: Promise<void> | undefined
  let isUpToDate = false

  return Object.freeze({
    read,
    readAll,
    readEach: readNamed,
    write,
    update,
    remove,
    list,
    check,
    exclusive: writer.exclusive,
    close: writer.close,
  })

  async function read<T>(key: Key): Promise<T> {
    const path = pathOf(key)
    await upToDate(path)
    return readNow<T>(key, path)
  }

  /** The records directly below a prefix, sorted by name. Unreadable ones are reported and left out. */
  async function readAll<T>(prefix: Key, take: (value: T, name: string) => void): Promise<void> {
    await readNamed(prefix, await list(prefix), take)
  }

  /** The named records below a prefix, in the given order. Names may come from records that were passed on before. */
  async function readNamed<T>(
    prefix: Key,
    names: Iterable<string>,
    take: (value: T, name: string) => void,
  ): Promise<void> {
    const path = pathOf(prefix)
    await upToDate(path)
    const folder = join(folders.records, path)
    await readEach({
      names,
      fileOf: (name) => `${folder}/${name}.json`,
      isChanging: (name) => changing.size > 0 && changing.has(`${path}/${name}`),
      readOne: (name) => readIfWell([...prefix, name]),
      take: take as (value: unknown, name: string) => void,
    })
  }

  /** A broken record was quarantined and reported when it was read. */
  async function readIfWell(key: Key): Promise<{ value: unknown } | undefined> {
    try {
      return { value: await read(key) }
    } catch (error) {
      if (error instanceof InvalidKey) Log.warn(error.message)
      else if (!(error instanceof NotFound || error instanceof Corrupt)) throw error
    }
  }

  function write(key: Key, data: unknown): Promise<void> {
    const path = pathOf(key)
    const text = serialize(key, data)
    return submit({ path, apply: () => text })
  }

  async function update<T>(
    key: Key,
    change: (draft: T) => unknown,
    options: { initial?: Partial<T> } = {},
  ): Promise<T> {
    const path = pathOf(key)
    const inContext = AsyncResource.bind(change)
    let value!: T
    const attempt = () =>
      submit({
        path,
        apply(current) {
          const found = current()
          if (!found && !options.initial) throw new NotFound(key)
          value = (found ? parse(key, found) : structuredClone(options.initial)) as T
          refuseAsync(key, inContext(value))
          return serialize(key, value)
        },
      })
    await attempt().catch(async (error) => {
      if (!(error instanceof Corrupt)) throw error
      await readNow(key, path)
      await attempt()
    })
    return value
  }

  function remove(key: Key): Promise<void> {
    const path = pathOf(key)
    const isMissing = !existsSync(fileOf(folders, path)) && !changing.has(path)
    if (isMissing && (isUpToDate || !existsSync(folders.journal))) return Promise.resolve()
    return submit({ path, apply: () => undefined })
  }

  async function list(prefix: Key): Promise<string[]> {
    const path = prefix.length ? pathOf(prefix) : ""
    await Promise.allSettled([...changing].flatMap(([key, change]) => (key.startsWith(path) ? [change] : [])))
    await upToDate(path)
    return listRecords(folders, path)
  }

  /** Read every record below a prefix; broken ones are quarantined and reported. */
  async function check(prefix: Key = []): Promise<{ records: number; broken: string[] }> {
    const total = { records: 0, broken: [] as string[] }
    for (const name of await list(prefix)) {
      const key = [...prefix, name]
      await checkOne(key, total).catch((error) => total.broken.push(errorText(error)))
      const isFolder = existsSync(join(folders.records, ...key))
      const below = isFolder ? await check(key).catch(() => undefined) : undefined
      if (!below) continue
      total.records += below.records
      total.broken.push(...below.broken)
    }
    return total
  }

  async function checkOne(key: Key, total: { records: number }) {
    if (!existsSync(fileOf(folders, pathOf(key)))) return
    await read(key)
    total.records++
  }

  function submit(change: Change): Promise<void> {
    const done = writer.submit(change)
    const settled = done
      .catch(() => {})
      .then(() => void (changing.get(change.path) === settled && changing.delete(change.path)))
    changing.set(change.path, settled)
    return done
  }

  /** Pending changes of this process and newer values of the journal count before the files. */
  async function upToDate(path: string) {
    await changing.get(path)
    ready ??= openIfThere().catch(cannotOpen)
    await ready
  }

  async function openIfThere() {
    if (existsSync(folders.journal)) await writer.open()
    isUpToDate = true
  }

  function cannotOpen(error: unknown) {
    Log.warn("the journal could not be opened; records are read as they are", { error: errorText(error) })
  }

  async function readNow<T>(key: Key, path: string): Promise<T> {
    const found = readRecord(folders, path)
    if (!found) throw new NotFound(key)
    try {
      return parse(key, found) as T
    } catch (error) {
      return (await repair(key, path, error as Corrupt)) as T
    }
  }

  /** Repair a broken record from the journal, or quarantine and report it. Another process may have been faster. */
  async function repair(key: Key, path: string, broken: Corrupt): Promise<unknown> {
    let mended: string | undefined
    const apply: Change["apply"] = (current) => {
      const found = current()
      if (!found) throw new NotFound(key)
      if ("text" in found && isJson(found.text)) mended = found.text
      else mended = mend(key, path, broken)
      return mended
    }
    await submit({ path, apply }).catch((error) => {
      if (error instanceof NotFound || error instanceof Corrupt) throw error
      Log.warn(broken.message)
      throw broken
    })
    return JSON.parse(mended!)
  }

  function mend(key: Key, path: string, broken: Corrupt): string {
    const movedTo = quarantineFile(folders, path)
    const kept = writer.lastJournaled(path)?.bytes?.toString()
    const error = new Corrupt(key, broken.reason, movedTo)
    Log.warn(kept === undefined ? error.message : `${error.message} and mended from the journal`)
    if (kept === undefined) throw error
    return kept
  }
}

function parse(key: Key, found: { text: string } | { reason: string }): unknown {
  if ("reason" in found) throw new Corrupt(key, found.reason, undefined)
  try {
    return JSON.parse(found.text)
  } catch (error) {
    throw new Corrupt(key, errorText(error), undefined)
  }
}

/** Its later results are ignored, and its later errors must not end the process. */
function refuseAsync(key: Key, result: unknown) {
  if (!(result instanceof Promise)) return
  result.catch(() => {})
  throw new InvalidData(key, "the change of an update must not be asynchronous")
}

function serialize(key: Key, data: unknown): string {
  try {
    const text = JSON.stringify(data)
    if (text !== undefined) return Secret.redactJson(text)
  } catch (error) {
    throw new InvalidData(key, errorText(error))
  }
  throw new InvalidData(key, `${typeof data} is not JSON`)
}

/** Keys become paths below the storage folder and cannot leave it. */
export function pathOf(key: Key): string {
  if (!Array.isArray(key) || key.length === 0) throw new InvalidKey(key, "it needs at least one part")
  for (const part of key) {
    if (typeof part !== "string" || part === "")
      throw new InvalidKey(key, "every part is a string that is not empty")
    if (/[/\\\u0000-\u001f\u007f]/.test(part))
      throw new InvalidKey(key, "a part has a separator or control character")
    if (part.startsWith(".")) throw new InvalidKey(key, "a part starts with a dot")
    if (part.endsWith(".json")) throw new InvalidKey(key, 'a part ends in ".json"')
    if (Buffer.byteLength(part) > 200) throw new InvalidKey(key, "a part is longer than 200 bytes")
    if (!part.isWellFormed()) throw new InvalidKey(key, "a part is not well-formed Unicode")
  }
  return key.join("/")
}
