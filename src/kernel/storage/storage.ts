// JSON records by key. By default they are files of this machine (record-files.ts); another backend may keep them
// elsewhere. A write is acknowledged when its promise resolves.
import type { Key } from "./errors.ts"
import * as RecordFiles from "./record-files.ts"

export { Corrupt, InvalidData, InvalidKey, type Key, Locked, NotFound, WriteFailed } from "./errors.ts"
export { headOf, type Quarantined, readQuarantined } from "./files.ts"
export { check, close, type Migration, migrate } from "./record-files.ts"

/** Where records are kept. Each function does what the exported one of the same name says. */
export type Backend = Readonly<
  Pick<
    typeof RecordFiles,
    | "read"
    | "readEach"
    | "isKnownMissing"
    | "write"
    | "update"
    | "remove"
    | "list"
    | "quarantined"
    | "quarantine"
    | "discard"
  >
>

let backend: Backend = RecordFiles

/** Keep the records of this process elsewhere. Call it before the first record is touched. */
export function use(other: Backend): void {
  backend = other
}

/** The record at a key. A missing one throws `Storage.NotFound`, a broken one is quarantined and throws `Storage.Corrupt`. */
export function read<T = unknown>(key: Key): Promise<T> {
  return backend.read<T>(key)
}

/** Passes on the records directly below a prefix, sorted by name. Removed and broken records are left out; the log
 * names the broken ones. */
export async function readAll<T = unknown>(
  prefix: Key,
  take: (value: T, name: string) => void,
): Promise<void> {
  await backend.readEach(prefix, await backend.list(prefix), take)
}

/** Like `readAll`, for the given names only, in their order. A name may come from a record that `take` has just
 * received. */
export function readEach<T = unknown>(
  prefix: Key,
  names: Iterable<string>,
  take: (value: T, name: string) => void,
): Promise<void> {
  return backend.readEach(prefix, names, take)
}

/** Whether there is certainly no record. Cheaper than a read that throws `Storage.NotFound`. */
export function isKnownMissing(key: Key): boolean {
  return backend.isKnownMissing(key)
}

export function write(key: Key, data: unknown): Promise<void> {
  return backend.write(key, data)
}

/** Change a record under the lock of all processes; returns the new value. `initial` creates a missing one. */
export function update<T>(
  key: Key,
  change: (draft: T) => unknown,
  options: { initial?: Partial<T> } = {},
): Promise<T> {
  return backend.update(key, change, options)
}

/** A missing record is no error. */
export function remove(key: Key): Promise<void> {
  return backend.remove(key)
}

/** Names of the direct children of a prefix, sorted. */
export function list(prefix: Key): Promise<string[]> {
  return backend.list(prefix)
}

/** The quarantined files of records at and below a key, the oldest of each record first. */
export function quarantined(prefix: Key) {
  return backend.quarantined(prefix)
}

/** Quarantine a record that is JSON but has the wrong shape. Returns the path of its file; undefined if somebody else
 * has replaced it meanwhile. */
export function quarantine(key: Key, isWrong: (value: unknown) => boolean): Promise<string | undefined> {
  return backend.quarantine(key, isWrong)
}

/** Delete what is quarantined at and below a key, and the folder of its records if it is empty. */
export function discard(prefix: Key): Promise<void> {
  return backend.discard(prefix)
}
