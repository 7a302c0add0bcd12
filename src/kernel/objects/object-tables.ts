// The shared objects in tables of PostgreSQL: who uses which bytes under which name, and the bytes, in chunks under their
// hash or in a bucket. The database itself refuses to remove bytes that somebody has just begun to use. In a bucket each
// upload has a key of its own, so who removes bytes never removes those that another server has just stored again.
import { type Client, type Database, retrying, settle, transact } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import { createId } from "#util/id.ts"
import type { Bucket } from "./bucket.ts"
import { Damaged } from "./errors.ts"
import type { Objects } from "./objects.ts"
import { hashOf } from "./sign-request.ts"

type Given = { name: string; bytes: Buffer; hash: string }
type Row = { hash: string; size: number; key: string | null }

const chunkBytes = 1 << 20
/** Bytes of one transaction, unless a single object is larger. */
const batchBytes = 8 << 20
const chunksAtOnce = 4
const uploadsAtOnce = 8
/** PostgreSQL refuses a use of bytes that are gone, and the removal of bytes that are used. */
const usedElsewhere = "23503"
const maxTries = 10

export function createObjectTables(database: Database, bucket?: Bucket): Objects {
  const connection = database.connect()
  /** Transactions of one connection must not mix. */
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }

  const ask = <T>(text: string, values: unknown[]): Promise<T[]> =>
    inTurn(() => retrying(async () => (await (await connection.client()).query(text, values)).rows as T[]))

  async function put(owner: string, objects: readonly { name: string; bytes: Buffer }[]): Promise<void> {
    const given = objects.map((object) => ({ ...object, hash: hashOf(object.bytes) }))
    for (const batch of batchesOf(given)) await store(owner, batch)
  }

  /** Bytes that are there are not sent again. If they are removed at this moment, the database refuses their use, and the
   * next try sends them. In a bucket, bytes come before their row. */
  async function store(owner: string, batch: Given[]): Promise<void> {
    const keys = new Map<string, string>()
    for (let tries = 1; ; tries++)
      try {
        const text = "select hash from vitamin.object where hash = any($1)"
        const known = await ask<{ hash: string }>(text, [batch.map(({ hash }) => hash)])
        const isKnown = new Set(known.map(({ hash }) => hash))
        const fresh = oncePerHash(batch.filter(({ hash }) => !isKnown.has(hash)))
        if (bucket) await upload(bucket, fresh, keys)
        await inTurn(() => transact(connection, (client) => write(client, { owner, batch, fresh, keys })))
        if (bucket) await removeUnused(bucket, keys)
        return
      } catch (error) {
        if (errorCode(error) !== usedElsewhere || tries === maxTries) throw error
      }
  }

  /** If two servers store equal bytes at once, one row wins; the other upload is removed again. */
  async function removeUnused(from: Bucket, keys: Map<string, string>): Promise<void> {
    if (!keys.size) return
    const rows = await ask<{ key: string }>("select key from vitamin.object where hash = any($1)", [
      [...keys.keys()],
    ])
    const used = new Set(rows.map(({ key }) => key))
    for (const key of keys.values()) if (!used.has(key)) await discard(from, key)
  }

  async function get(name: string): Promise<Buffer | undefined> {
    const text = `select o.hash, o.size::float8 as size, to_jsonb(o) ->> 'key' as key
      from vitamin.object_use u join vitamin.object o using (hash) where u.name = $1 order by u.owner limit 1`
    for (let before: Row | undefined; ; ) {
      const [found] = await ask<Row>(text, [name])
      if (!found) return undefined
      const bytes = found.key === null ? await readChunks(found) : await bucket?.get(found.key, found.size)
      if (bytes && hashOf(bytes) === found.hash) return bytes
      // They may have been removed, or stored again, meanwhile.
      const isSame = before?.hash === found.hash && before.key === found.key
      before = found
      if (isSame) throw new Damaged(name, reasonOf(found, bytes))
    }
  }

  function reasonOf({ key, hash }: Row, bytes: Buffer | undefined): string {
    if (key === null) return "its bytes in the database are damaged"
    if (!bucket) return "its bytes are in a bucket, and VITAMIN_OBJECTS is not set"
    return bytes
      ? `${key} in ${bucket.shown} has other bytes than its hash ${hash} says`
      : `${key} is gone from ${bucket.shown}`
  }

  async function readChunks({ hash, size }: Row): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let at = 0; at * chunkBytes < size; at += chunksAtOnce) {
      const some = `select bytes from vitamin.object_chunk where hash = $1 and number between $2 and $3 order by number`
      const rows = await ask<{ bytes: Buffer }>(some, [hash, at, at + chunksAtOnce - 1])
      parts.push(...rows.map(({ bytes }) => bytes))
    }
    return Buffer.concat(parts)
  }

  async function has(owner: string, names: readonly string[]): Promise<Set<string>> {
    const text = "select name from vitamin.object_use where owner = $1 and name = any($2)"
    return new Set((await ask<{ name: string }>(text, [owner, names])).map(({ name }) => name))
  }

  async function list(owner: string, prefix: string): Promise<string[]> {
    const text =
      "select name from vitamin.object_use where owner = $1 and starts_with(name, $2) order by name"
    return (await ask<{ name: string }>(text, [owner, prefix])).map(({ name }) => name)
  }

  async function copy(from: string, to: string): Promise<void> {
    const text = `insert into vitamin.object_use select $2, name, hash from vitamin.object_use where owner = $1
      on conflict do nothing`
    await ask(text, [from, to])
  }

  /** In a bucket, the row goes before its bytes. */
  async function remove(owner: string): Promise<void> {
    const uses = "delete from vitamin.object_use where owner = $1 returning hash"
    const hashes = (await ask<{ hash: string }>(uses, [owner])).map(({ hash }) => hash)
    if (!hashes.length) return
    const unused = `delete from vitamin.object o where hash = any($1)
      and not exists (select from vitamin.object_use u where u.hash = o.hash) returning key`
    for (let tries = 1; ; tries++)
      try {
        for (const { key } of await ask<Pick<Row, "key">>(unused, [hashes]))
          if (bucket && key !== null) await discard(bucket, key)
        return
      } catch (error) {
        if (errorCode(error) !== usedElsewhere || tries === maxTries) throw error
      }
  }

  return Object.freeze<Objects>({
    ...{ put, get, has, list, copy, remove },
    shown: bucket?.shown ?? "the database",
    check: async () => bucket?.check(),
    close: () => inTurn(connection.close),
  })
}

/** Keys of an earlier try are used again. */
async function upload(bucket: Bucket, fresh: Given[], keys: Map<string, string>): Promise<void> {
  const rest = fresh.filter(({ hash }) => !keys.has(hash))
  for (let at = 0; at < rest.length; at += uploadsAtOnce)
    await settle(
      rest.slice(at, at + uploadsAtOnce).map(async ({ hash, bytes }) => {
        const key = `${hash}-${createId("object")}`
        await bucket.put(key, bytes)
        keys.set(hash, key)
      }),
    )
}

/** Nothing names these bytes any more. If they stay, they only take space. */
async function discard(bucket: Bucket, key: string): Promise<void> {
  await bucket.remove(key).catch((error) => {
    Log.warn("an object that nobody uses stays in the bucket", { key, error: errorText(error) })
  })
}

function oncePerHash(given: Given[]): Given[] {
  return [...new Map(given.map((one) => [one.hash, one])).values()].sort((a, b) => (a.hash < b.hash ? -1 : 1))
}

async function write(
  client: Client,
  {
    owner,
    batch,
    fresh,
    keys,
  }: { owner: string; batch: Given[]; fresh: Given[]; keys: ReadonlyMap<string, string> },
): Promise<void> {
  const object = `insert into vitamin.object (hash, size, key)
    select * from unnest($1::text[], $2::bigint[], $3::text[]) on conflict do nothing`
  const chunk = "insert into vitamin.object_chunk values ($1, $2, $3) on conflict do nothing"
  const use = `insert into vitamin.object_use select $1, * from unnest($2::text[], $3::text[])
    on conflict (owner, name) do update set hash = excluded.hash`
  try {
    await settle([
      client.query("begin"),
      client.query(object, [
        fresh.map(({ hash }) => hash),
        fresh.map(({ bytes }) => bytes.length),
        fresh.map(({ hash }) => keys.get(hash) ?? null),
      ]),
    ])
    for (const { hash, bytes } of fresh.filter((one) => !keys.has(one.hash)))
      for (let at = 0; at * chunkBytes < bytes.length; at++)
        await client.query(chunk, [hash, at, bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes)])
    const named = [...new Map(batch.map((one) => [one.name, one])).values()]
    await settle([
      client.query(use, [owner, named.map(({ name }) => name), named.map(({ hash }) => hash)]),
      client.query("commit"),
    ])
  } catch (error) {
    void client.query("rollback").catch(() => {})
    throw error
  }
}

function* batchesOf(given: Given[]): Generator<Given[]> {
  let batch: Given[] = []
  let size = 0
  for (const one of given) {
    if (batch.length && (size + one.bytes.length > batchBytes || batch.length === 500)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(one)
    size += one.bytes.length
  }
  if (batch.length) yield batch
}
