// PostgreSQL crashes while transactions are open. It gives the ids of those that it lost to new ones, so their status says
// nothing about the lost ones.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createConnection } from "#kernel/database/connection.ts"
import { transact } from "#kernel/database/transact.ts"
import { cluster, noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"

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
      const connection = createConnection(database.url)
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
