// JSON records by key. By default they are files of this machine (record-files.ts); another backend may keep them
// elsewhere. A write is acknowledged when its promise resolves.
import type { Database } from "#kernel/database/database.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { type Key, pathOf, splitPath } from "./errors.ts"
import type { Quarantined } from "./files.ts"
import * as RecordFiles from "./record-files.ts"
import { serialize } from "./store.ts"

export { Corrupt, InvalidData, InvalidKey, type Key, Locked, NotFound, WriteFailed } from "./errors.ts"
export type { Quarantined } from "./files.ts"
export { type Migration, migrate } from "./record-files.ts"

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
    | "newest"
    | "quarantined"
    | "quarantine"
    | "readQuarantined"
    | "headOf"
    | "dropQuarantined"
    | "discard"
    | "check"
    | "close"
  >
>

let backend: Backend = RecordFiles
let database: Database | undefined

/** Keep the records of this process elsewhere. Call it before the first record is touched. */
export function use(other: Backend, shared?: Database): void {
  backend = other
  database = shared
  if (!shared) Worker.use(undefined)
}

/** The database that has the records; undefined if they are files. */
export function sharedDatabase(): Database | undefined {
  return database
}

/** The time in milliseconds since 1970, the same for all processes that share the records: by the clock of the database, or
 * of this machine. For what is compared with the time of another process, such as the end of a token. */
export function now(): number {
  return database?.now() ?? Date.now()
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

/** The SQL that adds a new record, for a transaction that stores something else with it. It takes no lock, so the key must
 * be one that nobody else uses. */
export function insertion(key: Key, data: unknown): { text: string; values: string[] } {
  const text = "insert into vitamin.record (parent, name, body) values ($1, $2, $3)"
  return { text, values: [...splitPath(pathOf(key)), serialize(key, data)] }
}

/** Change a record under the lock of all processes; returns the new value. `initial` creates a missing one. `removes`: the
 * key of a record that is removed with it, in the same transaction of a database, or right after it. If that one is missing,
 * it throws `Storage.NotFound` and changes nothing. */
export function update<T>(
  key: Key,
  change: (draft: T) => unknown,
  options: { initial?: Partial<T>; removes?: Key | undefined } = {},
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

/** Names of the records directly below a prefix, those that were changed last first. */
export function newest(prefix: Key, limit: number): Promise<string[]> {
  return backend.newest(prefix, limit)
}

/** The quarantined records at and below a key, the oldest of each record first. */
export function quarantined(prefix: Key): Promise<Quarantined[]> {
  return backend.quarantined(prefix)
}

/** The content of a quarantined record: its value if it can be read now, or why not. A byte order mark is removed. */
export function readQuarantined(one: Quarantined): Promise<{ value: unknown } | { reason: string }> {
  return backend.readQuarantined(one)
}

/** The beginning of a quarantined record: a truncated one still has its first fields. */
export function headOf(one: Quarantined): Promise<string> {
  return backend.headOf(one)
}

/** Remove a record from the quarantine. */
export function dropQuarantined(one: Quarantined): Promise<void> {
  return backend.dropQuarantined(one)
}

/** Quarantine a record that is JSON but has the wrong shape. Returns where it is kept; undefined if somebody else has
 * replaced it meanwhile. */
export function quarantine(key: Key, isWrong: (value: unknown) => boolean): Promise<string | undefined> {
  return backend.quarantine(key, isWrong)
}

/** Delete what is quarantined at and below a key, and the folder of its records if it is empty. */
export function discard(prefix: Key): Promise<void> {
  return backend.discard(prefix)
}

/** Read every record below a prefix: how many are intact, and which were broken and are quarantined now. */
export function check(prefix: Key = []): Promise<{ records: number; broken: string[] }> {
  return backend.check(prefix)
}

/** Close files and connections, after everything that was submitted before; the next call opens them again. */
export function close(): Promise<void> {
  return backend.close()
}
