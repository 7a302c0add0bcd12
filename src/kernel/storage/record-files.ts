// The records of storage.ts as files under `Global.data()/storage`. An acknowledged write survives `kill -9` and a power
// cut. Several processes may use one store.
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { Corrupt, InvalidKey, type Key, NotFound, pathOf } from "./errors.ts"
import {
  fileOf,
  foldersOf,
  headOf as headOfFile,
  listQuarantined,
  listRecords,
  type Quarantined,
  quarantineFile,
  readQuarantined as readQuarantinedFile,
  readQuickly,
  removeEmptyFolder,
  removeQuarantined,
} from "./files.ts"
import { createLock } from "./lock.ts"
import { createStore, type Store, serialize } from "./store.ts"
import { updateRecord } from "./update-record.ts"

/** A change of the store's layout. */
export type Migration = { version: number; name: string; run: () => Promise<void> }

/** The layout has never changed. */
const migrations: Migration[] = []
const versionKey = ["meta", "version"]
/** Milliseconds of reading after which the event loop gets its turn. */
const turn = 8
/** A name that is a valid part of a key. */
const plainName = /^[\w-]{1,200}$/
const stores = new Map<string, Store>()

export async function read<T = unknown>(key: Key): Promise<T> {
  const path = pathOf(key)
  const store = current()
  await store.upToDate(path)
  return (await store.readNow(key, path)) as T
}

export async function readEach<T = unknown>(
  prefix: Key,
  names: Iterable<string>,
  take: (value: T, name: string) => void,
): Promise<void> {
  const path = pathOf(prefix)
  const { upToDate, folders, changing } = current()
  await upToDate(path)
  const folder = join(folders.records, path)
  let end = performance.now() + turn
  for (const name of names) {
    const isQuick = plainName.test(name) && !changing.has(`${path}/${name}`)
    const quick = isQuick ? readQuickly(`${folder}/${name}.json`) : undefined
    const found = quick ?? (await readUnlessBroken([...prefix, name]))
    if (found) take(found.value as T, name)
    if (performance.now() < end) continue
    await setImmediate()
    end = performance.now() + turn
  }
}

export function isKnownMissing(key: Key): boolean {
  return current().isKnownMissing(pathOf(key))
}

export async function write(key: Key, data: unknown): Promise<void> {
  const path = pathOf(key)
  const text = serialize(key, data)
  await current().submit({ path, apply: () => text })
}

export async function update<T>(
  key: Key,
  change: (draft: T) => unknown,
  { initial, removes }: { initial?: Partial<T>; removes?: Key | undefined } = {},
): Promise<T> {
  const path = pathOf(key)
  const store = current()
  if (removes) await read(removes)
  const updated = await updateRecord({
    key,
    change,
    initial,
    submit: (apply) => store.submit({ path, apply }),
    repair: () => store.readNow(key, path),
  })
  if (removes) await remove(removes)
  return updated
}

export async function remove(key: Key): Promise<void> {
  const path = pathOf(key)
  const store = current()
  if (!store.isKnownMissing(path)) await store.submit({ path, apply: () => undefined })
}

export async function list(prefix: Key): Promise<string[]> {
  const path = prefix.length ? pathOf(prefix) : ""
  const { changing, upToDate, folders } = current()
  await Promise.allSettled([...changing].flatMap(([key, change]) => (key.startsWith(path) ? [change] : [])))
  await upToDate(path)
  return listRecords(folders, path)
}

export async function newest(prefix: Key, limit: number): Promise<string[]> {
  const { folders } = current()
  const path = pathOf(prefix)
  const changedAt = (name: string) =>
    statSync(fileOf(folders, `${path}/${name}`), { throwIfNoEntry: false })?.mtimeMs
  const found = (await list(prefix)).flatMap((name) => {
    const at = changedAt(name)
    return at === undefined ? [] : [{ name, at }]
  })
  const sorted = found.sort((a, b) => b.at - a.at || (a.name < b.name ? 1 : -1))
  return sorted.slice(0, limit).map(({ name }) => name)
}

/** Read every record below a prefix: how many are intact, and which were broken and are quarantined now. */
export async function check(prefix: Key = []): Promise<{ records: number; broken: string[] }> {
  const { folders } = current()
  const total = { records: 0, broken: [] as string[] }
  for (const name of await list(prefix)) {
    const key = [...prefix, name]
    try {
      if (existsSync(fileOf(folders, pathOf(key)))) {
        await read(key)
        total.records++
      }
    } catch (error) {
      total.broken.push(errorText(error))
    }
    const isFolder = existsSync(join(folders.records, ...key))
    const below = isFolder ? await check(key).catch(() => undefined) : undefined
    total.records += below?.records ?? 0
    total.broken.push(...(below?.broken ?? []))
  }
  return total
}

export async function quarantined(prefix: Key): Promise<Quarantined[]> {
  return listQuarantined(foldersOf(Global.data()), checked(prefix))
}

export async function readQuarantined({
  place,
}: Quarantined): Promise<{ value: unknown } | { reason: string }> {
  return readQuarantinedFile(place)
}

export async function headOf({ place }: Quarantined): Promise<string> {
  return headOfFile(place)
}

export async function dropQuarantined({ place }: Quarantined): Promise<void> {
  rmSync(place)
}

export function quarantine(key: Key, isWrong: (value: unknown) => boolean): Promise<string | undefined> {
  const { folders, exclusive } = current()
  const path = pathOf(key)
  return exclusive(() => {
    const found = readQuarantinedFile(fileOf(folders, path))
    return "value" in found && isWrong(found.value) ? quarantineFile(folders, path) : undefined
  })
}

export async function discard(prefix: Key): Promise<void> {
  const { folders, exclusive } = current()
  removeQuarantined(folders, checked(prefix))
  // Under the lock: a writer makes the folder and then moves its record into it.
  await exclusive(() => removeEmptyFolder(folders, pathOf(prefix)))
}

/** Run pending migrations, in order of version, one process at a time. Each runs once, and is recorded when it is done,
 * so that an interrupted run continues where it stopped. Returns the version of the store. */
export async function migrate(all: Migration[] = migrations): Promise<number> {
  const done = await version()
  const pending = (from: number) =>
    all.filter(({ version }) => version > from).sort((a, b) => a.version - b.version)
  if (!pending(done).length) return done
  const { folders } = current()
  mkdirSync(folders.journal, { recursive: true, mode: 0o700 })
  const lock = await createLock(join(folders.journal, "migrate"))
  await lock.acquire()
  try {
    for (const { version: next, name, run } of pending(await version())) {
      Log.info("migrating the store", { version: next, name })
      await run()
      await write(versionKey, { version: next })
    }
  } finally {
    lock.release()
    lock.close()
  }
  return version()
}

/** Close the files of all stores; the next call opens them again. */
export async function close(): Promise<void> {
  const open = [...stores.values()]
  stores.clear()
  await Promise.all(open.map((store) => store.close()))
}

/** A broken record was quarantined and reported when it was read. */
async function readUnlessBroken(key: Key): Promise<{ value: unknown } | undefined> {
  try {
    return { value: await read(key) }
  } catch (error) {
    if (error instanceof InvalidKey) Log.warn(error.message)
    else if (!(error instanceof NotFound || error instanceof Corrupt)) throw error
  }
}

async function version(): Promise<number> {
  try {
    return (await read<{ version: number }>(versionKey)).version
  } catch (error) {
    if (error instanceof NotFound) return 0
    throw error
  }
}

function checked(prefix: Key): Key {
  if (prefix.length) pathOf(prefix)
  return prefix
}

function current(): Store {
  const root = Global.data()
  const store = stores.get(root) ?? createStore(root)
  stores.set(root, store)
  return store
}
