// A network that is cut, a database that is away for long, values that are too large, tables that another program changed.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as RecordFiles from "#kernel/storage/record-files.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { useDatabase } from "#kernel/storage/use-database.ts"
import { type Network, networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { repeat } from "../../fixture/soak.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const key = ["counter", "one"]
const add = () => Storage.update<{ n: number }>(key, (draft) => draft.n++, { initial: { n: 0 } })

/** Storage in a database behind a network that can be cut. */
async function through(
  work: (network: Network, database: TmpDatabase) => Promise<void>,
  pass?: (answer: Buffer) => boolean,
) {
  await using _ = await tmpdir()
  await using database = await tmpDatabase()
  const { port } = await cluster()
  await using network = await networkTo(port, pass)
  await useDatabase(database.url.replace(`:${port}/`, `:${network.port}/`))
  try {
    await work(network, database)
  } finally {
    await Storage.close()
    Storage.use(RecordFiles)
  }
}

test(
  "Storage in PostgreSQL makes a change once when the network is cut during it and never told so",
  real,
  () => {
    let commits = 0
    return through(
      async (network, database) => {
        assert.deepEqual(await add(), { n: 1 })
        await database.query("insert into vitamin.record values ('counter', 'two', '2')")
        const second = add()
        await until(() => commits === 2, "the commit")
        network.mend()
        // The connection that reads is dead too.
        assert.deepEqual(await Promise.all([second, Storage.read(["counter", "two"])]), [{ n: 2 }, 2])
        assert.deepEqual(await add(), { n: 3 })
        assert.deepEqual(await database.query("select body from vitamin.record where name = 'one'"), [
          { body: '{"n":3}' },
        ])
      },
      (answer) => !(answer.includes("COMMIT\0") && ++commits === 2),
    )
  },
)

test(
  "Storage in PostgreSQL says that nobody knows whether a change is stored if it cannot find out",
  real,
  () => {
    let commits = 0
    return through(
      async (network, database) => {
        await add()
        await assert.rejects(add(), {
          name: "Database.Uncertain",
          message:
            /^Record counter\/one: The database \S+ at \S+ went away during a commit and cannot tell yet whether/,
        })
        assert.deepEqual(await database.query("select body from vitamin.record"), [{ body: '{"n":2}' }])
        network.mend()
        assert.deepEqual(await add(), { n: 3 })
      },
      (answer) => !(answer.includes("COMMIT\0") && ++commits === 2),
    )
  },
)

test("Storage.close() does not wait for a network that is cut", real, () =>
  through(async (network) => {
    await add()
    network.cut()
    const closed = Storage.close().then(() => "closed")
    assert.equal(await Promise.race([closed, sleep(20_000, "hangs", { ref: false })]), "closed")
    network.mend()
    assert.deepEqual(await add(), { n: 2 })
  }),
)

test(
  "Storage in PostgreSQL stores many large records at once, and refuses one that is too large",
  real,
  async () => {
    await using store = await tmpStore("PostgreSQL")
    const names = Array.from({ length: repeat(6, 40) }, (_, i) => `r${i}`)
    const body = "\u00e9".repeat(10 << 20)
    await Promise.all(names.map((name) => Storage.write(["large", name], { name, body })))
    assert.deepEqual(await Storage.list(["large"]), names.toSorted())
    assert.equal((await Storage.read<{ body: string }>(["large", "r3"])).body.length, body.length)
    const huge = "x".repeat(130 << 20)
    await assert.rejects(Storage.write(["large", "r3"], huge), {
      name: "Storage.InvalidData",
      message: /^Record large\/r3 cannot be stored: it has 130 MB, and a database takes 128$/,
    })
    assert.equal((await Storage.read<{ name: string }>(["large", "r3"])).name, "r3")
    assert.ok(store.env)
  },
)

test(
  "a program works with tables of a newer program that still fits, and stops when they no longer fit",
  real,
  async () => {
    await using tmp = await tmpdir()
    await using database = await tmpDatabase()
    await useDatabase(database.url)
    try {
      await Storage.write(key, { n: 1 })
      // What a newer program may do: a new version, more columns.
      await database.query("update vitamin.version set version = 99, oldest = 1")
      await database.query(
        "alter table vitamin.record add column owner text, add column epoch bigint not null default 0",
      )
      assert.deepEqual(await add(), { n: 2 })
      await Storage.close()
      await useDatabase(database.url)
      assert.deepEqual(await add(), { n: 3 })
      await database.query("update vitamin.record set body = '{' where name = 'one'")
      await assert.rejects(Storage.read(key), {
        name: "Storage.Corrupt",
        message: /row 1 of vitamin\.broken/,
      })
      await Storage.write(key, { n: 4 })

      await database.query("update vitamin.version set oldest = 99")
      await database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      )
      await sleep(50)
      const refused = {
        name: "Database.Unusable",
        message: /its tables have version 99, .* Upgrade this vitamin$/,
      }
      await assert.rejects(add(), refused)
      await assert.rejects(Storage.read(key), refused)
      assert.deepEqual(await database.query("select body from vitamin.record"), [{ body: '{"n":4}' }])
    } finally {
      await Storage.close()
      Storage.use(RecordFiles)
    }
    assert.ok(tmp.path)
  },
)
