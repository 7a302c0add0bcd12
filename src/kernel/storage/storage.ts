// JSON records by key, as files under `Global.data()/storage`. A write is acknowledged when its promise resolves: it
// then survives `kill -9` and a power cut. Several processes may use one store.
import * as Global from "#kernel/process/global.ts"
import type { Key } from "./errors.ts"
import { fileOf, foldersOf, quarantineFile, removeEmptyFolder } from "./files.ts"
import { type Migration, migrations, runMigrations } from "./migrate.ts"
import { listQuarantined, type Quarantined, readQuarantined, removeQuarantined } from "./quarantine.ts"
import { createStore, pathOf, type Store } from "./store.ts"

export { Corrupt, InvalidData, InvalidKey, type Key, Locked, NotFound, WriteFailed } from "./errors.ts"
export type { Migration } from "./migrate.ts"
export { headOf, type Quarantined, readQuarantined } from "./quarantine.ts"

const stores = new Map<string, Store>()

/** The record at a key. A missing one throws `Storage.NotFound`, a broken one is quarantined and throws `Storage.Corrupt`. */
export function read<T = unknown>(key: Key): Promise<T> {
  return store().read<T>(key)
}

/** Passes on the records directly below a prefix, sorted by name. Removed and broken records are left out; the log
 * names the broken ones. */
export function readAll<T = unknown>(prefix: Key, take: (value: T, name: string) => void): Promise<void> {
  return store().readAll(prefix, take)
}

/** Like `readAll`, for the given names only, in their order. A name may be taken from a record that was handed over
 * before it. */
export function readEach<T = unknown>(
  prefix: Key,
  names: Iterable<string>,
  take: (value: T, name: string) => void,
): Promise<void> {
  return store().readEach(prefix, names, take)
}

export async function write(key: Key, data: unknown): Promise<void> {
  await store().write(key, data)
}

/** Change a record under the lock of all processes; returns the new value. `initial` creates a missing one. */
export function update<T>(
  key: Key,
  change: (draft: T) => unknown,
  options?: { initial?: Partial<T> },
): Promise<T> {
  return store().update(key, change, options)
}

/** A missing record is no error. */
export async function remove(key: Key): Promise<void> {
  await store().remove(key)
}

/** Names of the direct children of a prefix, sorted. */
export function list(prefix: Key): Promise<string[]> {
  return store().list(prefix)
}

/** Read everything once: how many records are intact, and which were broken and are quarantined now. */
export function check(): Promise<{ records: number; broken: string[] }> {
  return store().check()
}

/** The quarantined files of records at and below a key, the oldest of each record first. */
export function quarantined(prefix: Key): Quarantined[] {
  return listQuarantined(foldersOf(Global.data()), checked(prefix))
}

/** Quarantine a record that is JSON but has the wrong shape. Returns the path of its file; undefined if somebody else
 * has replaced it meanwhile. */
export function quarantine(key: Key, isWrong: (value: unknown) => boolean): Promise<string | undefined> {
  const folders = foldersOf(Global.data())
  const path = pathOf(key)
  return store().exclusive(() => {
    const found = readQuarantined(fileOf(folders, path))
    return "value" in found && isWrong(found.value) ? quarantineFile(folders, path) : undefined
  })
}

/** Delete what is quarantined at and below a key, and the folder of its records if it is empty. */
export async function discard(prefix: Key): Promise<void> {
  const folders = foldersOf(Global.data())
  removeQuarantined(folders, checked(prefix))
  // Under the lock: a writer makes the folder and then moves its record into it.
  await store().exclusive(() => removeEmptyFolder(folders, pathOf(prefix)))
}

/** Run pending migrations: ours, at start, or a given list. Gives the version that the store is at. */
export function migrate(pending: Migration[] = migrations): Promise<number> {
  return runMigrations(store(), Global.data(), pending)
}

/** Close the files of all stores; the next call opens them again. */
export async function close(): Promise<void> {
  const open = [...stores.values()]
  stores.clear()
  await Promise.all(open.map((store) => store.close()))
}

function checked(prefix: Key): Key {
  if (prefix.length) pathOf(prefix)
  return prefix
}

function store(): Store {
  const root = Global.data()
  let found = stores.get(root)
  if (!found) {
    found = createStore(root)
    stores.set(root, found)
  }
  return found
}
