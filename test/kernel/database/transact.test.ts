// Transactions whose connection is lost, or which PostgreSQL ends in favour of others. A crash gives the ids of those that it
// lost to new ones, so their status says nothing about the lost ones.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { createConnection } from "#kernel/database/connection.ts"
import { transact } from "#kernel/database/transact.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }

/** A transaction that is lost before anything of it is on disk. `reuse` lets other transactions commit under its id. */
async function crash(database: TmpDatabase, { reuse }: { reuse: boolean }) {
  await (await cluster()).restart("SIGQUIT")
  if (!reuse) return
  for (let i = 0; i < 20; i++) await database.query("insert into other values (1)")
}

for (const reuse of [true, false])
  test(
    `transact() does a transaction again that a crash lost, ${reuse ? "also if its id was given again" : "if its id is unknown"}`,
    real,
    async () => {
      await using database = await tmpDatabase()
      await database.query("create table other (n int); create table mine (n int)")
      const connection = createConnection({ url: database.url, shown: "test" })
      let tries = 0
      await transact(connection, async (client, transaction) => {
        await client.query("begin")
        const { rows } = await client.query<{ id: string }>("select pg_current_xact_id()::text as id")
        transaction.id = rows[0]!.id
        transaction.isThere = async (other) => (await other.query("select from mine")).rows.length > 0
        if (++tries === 1) await crash(database, { reuse })
        await client.query("insert into mine values (1)")
        await client.query("commit")
      })
      await connection.close()
      assert.equal((await database.query("select from mine")).length, 1)
      assert.equal(tries, 2)
    },
  )

/** A commit to the table `mine` waits while somebody has the advisory lock 7. */
const slowCommit = `create table mine (n int);
  create function wait() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(7); return null; end $$;
  create constraint trigger wait after insert on mine deferrable initially deferred
    for each row execute function wait()`

test("transact() waits for a commit that still runs on a lost connection", real, async () => {
  await using database = await tmpDatabase()
  await database.query(slowCommit)
  const { port } = await cluster()
  await using network = await networkTo(port)
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  await holder.query("select pg_advisory_lock(7)")
  const connection = createConnection({
    url: database.url.replace(`:${port}/`, `:${network.port}/`),
    shown: "test",
  })
  let tries = 0
  const done = transact(connection, async (client, transaction) => {
    tries++
    await client.query("begin; set local lock_timeout = 0")
    const { rows } = await client.query<{ id: string }>("select pg_current_xact_id()::text as id")
    transaction.id = rows[0]!.id
    await client.query("insert into mine values (1)")
    const committed = client.query("commit")
    committed.catch(() => {})
    const waits = "select from pg_locks where locktype = 'advisory' and not granted"
    await until(async () => (await database.query(waits)).length > 0, "the commit")
    if (tries === 1) {
      // This side notices the loss, and the server does not.
      network.cut()
      network.mend()
      ;(client as pg.Client).connection.stream.destroy()
    }
    await committed
  })
  const asked = `select from pg_stat_activity where query like 'select pg_xact_status%' and state = 'idle'`
  await until(async () => (await database.query(asked)).length > 0, "the question for its status")
  await holder.end()
  await done
  await connection.close()
  assert.equal((await database.query("select from mine")).length, 1)
  assert.equal(tries, 1)
})

for (const code of ["40001", "40P01"])
  test(`transact() repeats a transaction that PostgreSQL ended with ${code}, a few times`, real, async () => {
    await using database = await tmpDatabase()
    const connection = createConnection({ url: database.url, shown: "test" })
    const conflict = `do $$ begin raise exception using errcode = '${code}'; end $$`
    let tries = 0
    const endings = (count: number) =>
      transact(connection, async (client) => {
        if (++tries <= count) await client.query(conflict)
      })
    await endings(2)
    assert.equal(tries, 3)
    tries = 0
    await assert.rejects(endings(Number.POSITIVE_INFINITY), { code })
    assert.equal(tries, 5)
    await connection.close()
  })
