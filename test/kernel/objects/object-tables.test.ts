// The shared bytes while several servers store and remove the same ones at the same moment.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { open } from "#kernel/database/database.ts"
import { createObjectTables } from "#kernel/objects/object-tables.ts"
import { hashOf } from "#kernel/objects/sign-request.ts"
import { noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }

async function openObjects(tmp: TmpDatabase) {
  const database = await open(tmp.url)
  const objects = createObjectTables(database)
  return {
    objects,
    async [Symbol.asyncDispose]() {
      await objects.close()
      await database.close()
    },
  }
}

/** A transaction of another server, which stays open. */
async function begin(tmp: TmpDatabase) {
  const client = new pg.Client({ connectionString: tmp.url })
  await client.connect()
  await client.query("begin")
  return {
    query: (text: string) => client.query(text),
    /** Commits when somebody waits for a lock of it. */
    async commitWhenAwaited() {
      const waiting = "select 1 from pg_locks where not granted"
      await until(async () => (await tmp.query(waiting)).length > 0, "somebody waits")
      await client.query("commit")
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

test("put() sends bytes again that another server removes at this moment", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using t = await openObjects(tmp)
  const bytes = Buffer.from("the same bytes")
  await t.objects.put("first", [{ name: "a", bytes }])
  await using other = await begin(tmp)
  await other.query("delete from vitamin.object_use where owner = 'first'")
  await other.query("delete from vitamin.object")
  const stored = t.objects.put("second", [{ name: "b", bytes }])
  await Promise.all([stored, other.commitWhenAwaited()])
  assert.deepEqual(await t.objects.get("b"), bytes)
  assert.equal(await t.objects.get("a"), undefined)
})

test("remove() leaves bytes that another server begins to use at this moment", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using t = await openObjects(tmp)
  const bytes = Buffer.from("the same bytes")
  await t.objects.put("first", [{ name: "a", bytes }])
  await using other = await begin(tmp)
  await other.query("insert into vitamin.object_use select 'second', 'b', hash from vitamin.object")
  const removed = t.objects.remove("first")
  await Promise.all([removed, other.commitWhenAwaited()])
  assert.deepEqual(await t.objects.get("b"), bytes)
  assert.equal(await t.objects.get("a"), undefined)
  await t.objects.remove("second")
  assert.deepEqual(await tmp.query("select * from vitamin.object"), [])
})

test(
  "put() at the same time on one connection stores everything, or nothing of what fails",
  real,
  async () => {
    await using _ = await tmpdir()
    await using tmp = await tmpDatabase()
    await using t = await openObjects(tmp)
    // PostgreSQL refuses a text with a NUL, after the bytes are sent.
    const given = Array.from({ length: 12 }, (_, n) => ({
      owner: n % 3 === 1 ? `bad\0${n}` : `owner ${n}`,
      bytes: Buffer.alloc(1_200_000, n),
    }))
    const results = await Promise.allSettled(
      given.map(({ owner, bytes }, n) => t.objects.put(owner, [{ name: `name ${n}`, bytes }])),
    )
    for (const [n, { bytes }] of given.entries()) {
      const isBad = n % 3 === 1
      assert.equal(results[n]!.status, isBad ? "rejected" : "fulfilled", `${n}`)
      assert.deepEqual(await t.objects.get(`name ${n}`), isBad ? undefined : bytes, `${n}`)
    }
    const [count] = await tmp.query<{ n: number }>("select count(*)::int as n from vitamin.object")
    assert.equal(count!.n, 8)
  },
)

test("put() goes on after bytes that the database refused", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using t = await openObjects(tmp)
  await tmp.query("alter table vitamin.object_chunk add constraint refused check (length(bytes) <> 7)")
  await assert.rejects(t.objects.put("a", [{ name: "x", bytes: Buffer.from("refused") }]), /refused/)
  await t.objects.put("a", [{ name: "y", bytes: Buffer.from("stored") }])
  assert.deepEqual(await t.objects.list("a", ""), ["y"])
})

test("servers that store the same bytes in different orders never deadlock", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using one = await openObjects(tmp)
  await using two = await openObjects(tmp)
  const given = Array.from({ length: 21 }, (_, n) => ({ name: `n${n}`, bytes: Buffer.from(`bytes ${n}`) }))
  const byHash = given.toSorted((a, b) => (hashOf(a.bytes) < hashOf(b.bytes) ? -1 : 1))
  {
    // Both have stored some, and wait in the middle.
    await using other = await begin(tmp)
    await other.query(`insert into vitamin.object (hash, size) values ('${hashOf(byHash[10]!.bytes)}', 1)`)
    const stored = Promise.all([one.objects.put("a", byHash), two.objects.put("b", byHash.toReversed())])
    const waiting = "select 1 from pg_locks where not granted"
    await until(async () => (await tmp.query(waiting)).length === 2, "both wait")
    await other.query("rollback")
    await stored
  }
  for (const { name, bytes } of given) assert.deepEqual(await one.objects.get(name), bytes)
  const text = "select deadlocks::int from pg_stat_database where datname = current_database()"
  await one.objects.close()
  await two.objects.close()
  assert.deepEqual(await tmp.query(text), [{ deadlocks: 0 }])
})
