// The shared objects in tables of PostgreSQL: who uses which bytes under which name, and the bytes in chunks under their
// hash. The database itself refuses to remove bytes that somebody has just begun to use.
import { createHash } from "node:crypto"
import { type Client, type Database, retrying, settle, transact } from "#kernel/database/database.ts"
import { errorCode } from "#util/error.ts"
import type { Objects } from "./objects.ts"

type Given = { name: string; bytes: Buffer; hash: string }

const chunkBytes = 1 << 20
/** Bytes of one transaction, unless a single object is larger. */
const batchBytes = 8 << 20
const chunksAtOnce = 4
/** PostgreSQL refuses a use of bytes that are gone, and the removal of bytes that are used. */
const usedElsewhere = "23503"
const maxTries = 10

export function createObjectTables(database: Database): Objects {
  const connection = database.connect()
  /** Transactions of one connection must not mix. */
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }

  const ask = <T>(text: string, values: unknown[]): Promise<T[]> =>
    retrying(async () => (await (await connection.client()).query(text, values)).rows as T[])

  async function put(owner: string, objects: readonly { name: string; bytes: Buffer }[]): Promise<void> {
    const given = objects.map((object) => ({ ...object, hash: hashOf(object.bytes) }))
    for (const batch of batchesOf(given)) await inTurn(() => store(owner, batch))
  }

  /** Bytes that are there are not sent again. If they are removed at this moment, the database refuses their use, and the
   * next try sends them. */
  async function store(owner: string, batch: Given[]): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        const text = "select hash from vitamin.object where hash = any($1)"
        const known = await ask<{ hash: string }>(text, [batch.map(({ hash }) => hash)])
        const isKnown = new Set(known.map(({ hash }) => hash))
        const fresh = batch.filter(({ hash }) => !isKnown.has(hash))
        await transact(connection, (client) => write(client, { owner, batch, fresh }))
        return
      } catch (error) {
        if (errorCode(error) !== usedElsewhere || tries === maxTries) throw error
      }
  }

  function get(name: string): Promise<Buffer | undefined> {
    return inTurn(async () => {
      const text = `select o.hash, o.size::float8 as size from vitamin.object_use u join vitamin.object o using (hash)
        where u.name = $1 order by u.owner limit 1`
      const [found] = await ask<{ hash: string; size: number }>(text, [name])
      if (!found) return undefined
      const parts: Buffer[] = []
      for (let at = 0; at * chunkBytes < found.size; at += chunksAtOnce) {
        const some = `select bytes from vitamin.object_chunk where hash = $1 and number between $2 and $3 order by number`
        const rows = await ask<{ bytes: Buffer }>(some, [found.hash, at, at + chunksAtOnce - 1])
        parts.push(...rows.map(({ bytes }) => bytes))
      }
      const bytes = Buffer.concat(parts)
      return hashOf(bytes) === found.hash ? bytes : undefined
    })
  }

  async function has(owner: string, names: readonly string[]): Promise<Set<string>> {
    const text = "select name from vitamin.object_use where owner = $1 and name = any($2)"
    const found = await inTurn(() => ask<{ name: string }>(text, [owner, names]))
    return new Set(found.map(({ name }) => name))
  }

  async function list(owner: string, prefix: string): Promise<string[]> {
    const text =
      "select name from vitamin.object_use where owner = $1 and starts_with(name, $2) order by name"
    return (await inTurn(() => ask<{ name: string }>(text, [owner, prefix]))).map(({ name }) => name)
  }

  async function copy(from: string, to: string): Promise<void> {
    const text = `insert into vitamin.object_use select $2, name, hash from vitamin.object_use where owner = $1
      on conflict do nothing`
    await inTurn(() => ask(text, [from, to]))
  }

  async function remove(owner: string): Promise<void> {
    await inTurn(async () => {
      const uses = "delete from vitamin.object_use where owner = $1 returning hash"
      const hashes = (await ask<{ hash: string }>(uses, [owner])).map(({ hash }) => hash)
      if (!hashes.length) return
      const unused = `delete from vitamin.object o where hash = any($1)
        and not exists (select from vitamin.object_use u where u.hash = o.hash)`
      for (let tries = 1; ; tries++)
        try {
          await ask(unused, [hashes])
          return
        } catch (error) {
          if (errorCode(error) !== usedElsewhere || tries === maxTries) throw error
        }
    })
  }

  return Object.freeze({ put, get, has, list, copy, remove, close: () => inTurn(connection.close) })
}

async function write(
  client: Client,
  { owner, batch, fresh }: { owner: string; batch: Given[]; fresh: Given[] },
): Promise<void> {
  const rows = [...new Map(fresh.map((one) => [one.hash, one])).values()].sort((a, b) =>
    a.hash < b.hash ? -1 : 1,
  )
  const object =
    "insert into vitamin.object select * from unnest($1::text[], $2::bigint[]) on conflict do nothing"
  const chunk = "insert into vitamin.object_chunk values ($1, $2, $3) on conflict do nothing"
  const use = `insert into vitamin.object_use select $1, * from unnest($2::text[], $3::text[])
    on conflict (owner, name) do update set hash = excluded.hash`
  try {
    await settle([
      client.query("begin"),
      client.query(object, [rows.map(({ hash }) => hash), rows.map(({ bytes }) => bytes.length)]),
    ])
    for (const { hash, bytes } of rows)
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

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex")
}
