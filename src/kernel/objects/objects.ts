// Bytes that the servers of a database share: the objects of snapshots, and kept outputs of tools. Each machine keeps its
// own copy in files and works with that; the shared store has what other machines need. Without a database there is
// none, and nothing here costs anything.
import type { Database } from "#kernel/database/database.ts"
import { readObjectPlace } from "#kernel/database/object-place.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type { Bucket } from "./bucket.ts"

export { Damaged } from "./errors.ts"

export type Objects = Readonly<{
  /** Stores objects for an owner, usually a session. An object of the same name is replaced. Equal bytes are stored once,
   * whoever owns them. */
  put(owner: string, objects: readonly { name: string; bytes: Buffer }[]): Promise<void>
  /** The bytes under a name, of any owner. Throws `Damaged` if there should be some, and they are gone or others. */
  get(name: string): Promise<Buffer | undefined>
  /** Those of the names that the owner has. */
  has(owner: string, names: readonly string[]): Promise<Set<string>>
  /** The names of an owner's objects that begin like this. */
  list(owner: string, prefix: string): Promise<string[]>
  /** Gives an owner everything that another one has. */
  copy(from: string, to: string): Promise<void>
  /** Removes what an owner has. Bytes that another owner has too stay. */
  remove(owner: string): Promise<void>
  /** Where the bytes are, for people. */
  shown: string
  /** Throws if the bytes cannot be reached. */
  check(): Promise<void>
  close(): Promise<void>
}>

let made: { database: Database; objects: Promise<Objects> } | undefined

/** The store that servers share; undefined if records are files of this machine. */
export function shared(): Promise<Objects> | undefined {
  const database = Storage.sharedDatabase()
  if (!database) return undefined
  if (made?.database !== database) made = { database, objects: create(database) }
  return made.objects
}

/** Close the connection; the next call opens another. */
export async function close(): Promise<void> {
  const last = made
  made = undefined
  await (await last?.objects)?.close()
}

/** The objects of a database: their bytes are in its tables or, with VITAMIN_OBJECTS, in a bucket. */
export async function create(database: Database): Promise<Objects> {
  return (await import("./object-tables.ts")).createObjectTables(database, await openBucket())
}

/** Throws if VITAMIN_OBJECTS names a bucket that cannot be used. New tables would name it for good. */
export async function checkBucket(): Promise<void> {
  await (await openBucket())?.check()
}

async function openBucket(): Promise<Bucket | undefined> {
  const place = readObjectPlace()
  return place === undefined ? undefined : (await import("./bucket.ts")).createBucket(place)
}
