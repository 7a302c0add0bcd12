// Records in PostgreSQL that several processes change at the same moment, and one that the database refuses.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { open, recordLock } from "#kernel/database/database.ts"
import { createRecordTables } from "#kernel/storage/record-tables.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 60_000 }

async function connect(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { query: client.query.bind(client), [Symbol.asyncDispose]: () => client.end() }
}

for (const { kind, body, move } of [
  { kind: "a broken record", body: "{broken", move: () => Storage.read(["area", "one"]) },
  {
    kind: "a record of a wrong form",
    body: '{"wrong":1}',
    move: () => Storage.quarantine(["area", "one"], (value) => "wrong" in (value as object)),
  },
])
  test(`${kind} that is replaced while it is quarantined keeps its new value`, real, async () => {
    await using store = await tmpStore("PostgreSQL")
    await store.lay([[["area", "one"], body]])
    await using other = await connect(store.env.VITAMIN_DATABASE!)
    await using watcher = await connect(store.env.VITAMIN_DATABASE!)
    await other.query("begin")
    await other.query("update vitamin.record set body = '{\"new\":1}' where parent = 'area' and name = 'one'")
    const moved = move()
    const waiting = "select 1 from pg_locks where not granted"
    await until(async () => (await watcher.query(waiting)).rows.length > 0, "the quarantine waits")
    await other.query("commit")
    await moved
    assert.deepEqual(await Storage.read(["area", "one"]), { new: 1 })
    assert.deepEqual(await Storage.quarantined([]), [])
  })

test("one record that the database refuses does not stop the others of its transaction", real, async () => {
  await using store = await tmpStore("PostgreSQL")
  await Storage.write(["area", "first"], 1)
  await using other = await connect(store.env.VITAMIN_DATABASE!)
  await other.query("alter table vitamin.record add constraint refused check (name <> 'refused')")
  const names = ["a", "refused", "b", "c"]
  const results = await Promise.allSettled(names.map((name) => Storage.write(["area", name], name)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "fulfilled"],
  )
  assert.deepEqual(await Storage.list(["area"]), ["a", "b", "c", "first"])
})

test("processes that change the same records in different orders never deadlock", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  const databases = [await open(tmp.url), await open(tmp.url)]
  const [one, two] = databases.map(createRecordTables)
  const names = Array.from({ length: 40 }, (_, n) => `n${n}`)
  const add = (tables: typeof one, order: string[]) =>
    Promise.all(
      order.map((name) =>
        tables!.update<{ n: number }>(
          ["area", name],
          (draft) => void Object.assign(draft, { n: (draft.n ?? 0) + 1 }),
          {
            initial: {},
          },
        ),
      ),
    )
  await using other = await connect(tmp.url)
  await using watcher = await connect(tmp.url)
  try {
    // Both have some locks, and wait in the middle.
    await other.query("select pg_advisory_lock($1)", [recordLock("area/n20")])
    const added = Promise.all([add(one, names), add(two, names.toReversed())])
    const waiting = "select 1 from pg_locks where not granted"
    await until(async () => (await watcher.query(waiting)).rows.length === 2, "both wait")
    await other.query("select pg_advisory_unlock_all()")
    await added
    for (const name of names) assert.deepEqual(await one!.read(["area", name]), { n: 2 })
  } finally {
    for (const tables of [one, two]) await tables!.close()
  }
  // A deadlock is counted when its transaction ends; the transactions were retried.
  const text = "select deadlocks::int from pg_stat_database where datname = current_database()"
  assert.deepEqual(await tmp.query(text), [{ deadlocks: 0 }])
})
