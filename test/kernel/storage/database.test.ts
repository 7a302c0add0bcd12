// What only a database can do to records: it goes away, comes back, forgets to answer, is used by several machines.
import assert from "node:assert/strict"
import { connect, createServer } from "node:net"
import { test } from "node:test"
import * as RecordFiles from "#kernel/storage/record-files.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { useDatabase } from "#kernel/storage/use-database.ts"
import { runFixture } from "../../fixture/child.ts"
import { cluster, noPostgres, password, tmpDatabase } from "../../fixture/postgres.ts"
import { repeat } from "../../fixture/soak.ts"
import { acknowledged } from "../../fixture/storage-verify.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const key = ["counter", "one"]
const firstVersion = `
  alter table vitamin.record rename to kept; alter table vitamin.kept set schema public;
  drop schema vitamin cascade; create schema vitamin;
  create table vitamin.version (version int not null); insert into vitamin.version values (1);
  create table vitamin.record (
    parent text collate "C" not null, name text collate "C" not null, body text not null, primary key (parent, name));
  insert into vitamin.record select parent, name, body from kept; drop table kept;
  create table vitamin.broken (
    id bigint generated always as identity primary key,
    parent text collate "C" not null, name text collate "C" not null, body text not null);
  create index on vitamin.broken (parent, name);
  create table vitamin.event_head (seq bigint not null, position bigint not null);
  insert into vitamin.event_head values (0, 0);
  create table vitamin.event (seq bigint primary key, position bigint not null unique, frame text not null)`

test(
  "Storage in PostgreSQL loses no acknowledged write when the server restarts or crashes, and goes on",
  real,
  async () => {
    await using store = await tmpStore("PostgreSQL")
    await using child = runFixture("storage-writer.ts", { args: ["0"], env: store.env })
    await child.line(/^ready/)
    for (let i = 0; i < repeat(2, 20); i++) {
      const before = child.lines.length
      await (await cluster()).restart(i % 2 ? "SIGQUIT" : "SIGINT")
      await until(() => child.lines.length >= before + 5, `a write after restart ${i}`)
    }
    child.process.kill("SIGKILL")
    await child.exit
    assert.equal(child.errors(), "")
    for (const [name, seq] of acknowledged(child.lines)) {
      const record = await Storage.read<{ seq: number; size: number; body: string }>(["crash", name])
      assert.ok(record.seq >= seq, `${name}: acknowledged ${seq}, found ${record.seq}`)
      assert.equal(record.body.length, record.size)
    }
  },
)

test("Storage in PostgreSQL commits a change once when the answer to its commit is lost", real, async () => {
  await using tmp = await tmpdir()
  await using database = await tmpDatabase()
  const { port } = await cluster()
  let cuts = 0
  // Passes everything on, but keeps the answer to the third "commit" and cuts the connection instead.
  let commits = 0
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1")
    client.pipe(server)
    server.on("data", (bytes) => {
      if (bytes.includes("COMMIT\0") && ++commits === 3) {
        cuts++
        client.destroy()
        server.destroy()
      } else client.write(bytes)
    })
    for (const socket of [client, server])
      socket.on("error", () => {}).on("close", () => socket === server && client.destroy())
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => proxy.once("listening", resolve))
  const { port: own } = proxy.address() as { port: number }
  await useDatabase(database.url.replace(`:${port}/`, `:${own}/`))
  try {
    const add = () => Storage.update<{ n: number }>(key, (draft) => draft.n++, { initial: { n: 0 } })
    for (let n = 1; n <= 5; n++) assert.deepEqual(await add(), { n })
    assert.equal(cuts, 1)
    assert.deepEqual(await Storage.read(key), { n: 5 })
  } finally {
    await Storage.close()
    Storage.use(RecordFiles)
    proxy.close()
  }
  assert.ok(tmp.path)
})

test(
  "Storage in PostgreSQL takes the lock from a process that is paused inside an update, and loses no change",
  real,
  async () => {
    await using store = await tmpStore("PostgreSQL")
    await Storage.write(key, { n: 1 })
    await using child = runFixture("storage-counter.ts", { args: ["pause"], env: store.env })
    await child.line(/^holding/)
    await Storage.write(key, { n: 10 })
    assert.deepEqual(await Storage.read(key), { n: 10 })
    // It is paused again when it repeats its change on the new value.
    await until(() => child.process.exitCode !== null || !child.process.kill("SIGCONT"), "its end")
    assert.equal(await child.exit, 0, child.errors())
    assert.deepEqual(await Storage.read(key), { n: 11 })
  },
)

test(
  "Storage in PostgreSQL says shortly that the database is away, and never shows the password",
  real,
  async () => {
    await using tmp = await tmpdir()
    await assert.rejects(useDatabase(`postgres://vitamin:${password}@127.0.0.1:1/nothing`), {
      name: "Database.Unreachable",
      message:
        "The database nothing at 127.0.0.1:1 cannot be used: nobody answers there (ECONNREFUSED); start it, or correct the address",
    })
    const { port } = await cluster()
    const wrong = "another-password"
    await assert.rejects(useDatabase(`postgres://vitamin:${wrong}@127.0.0.1:${port}/postgres`), {
      name: "Database.Unreachable",
      message: /: the user or the password is wrong$/,
    })
    await assert.rejects(useDatabase(`postgres://vitamin:${password}@127.0.0.1:${port}/nothing`), {
      message: /^The database nothing at .*: there is no such database; create it first$/,
    })
    for (const [address, reason] of [
      ["nonsense", /it is not a URL/],
      ["mysql://a@b/c", /begins with mysql:/],
      ["postgres://a@b", /no name of a database/],
      ["postgres://a:50%zz@b/c", /a % in the password is not followed by two hex digits/],
      ["postgres://a@b/%zz", /a % in the name of the database/],
    ] as const)
      await assert.rejects(useDatabase(address), { name: "Database.InvalidAddress", message: reason })
    assert.ok(tmp.path)
  },
)

test(
  "Storage in PostgreSQL refuses a database that is read-only, has another encoding, or newer tables",
  real,
  async () => {
    await using tmp = await tmpdir()
    await using database = await tmpDatabase()
    await useDatabase(database.url)
    await Storage.write(key, 1)
    const name = new URL(database.url).pathname.slice(1)
    await database.query(`alter database ${name} set default_transaction_read_only = on`)
    await Storage.close()
    await assert.rejects(Storage.write(key, 2), {
      name: "Storage.WriteFailed",
      message: /it is read-only; name the primary server, .*; the old value stays$/,
    })
    assert.equal(await Storage.read(key), 1)
    await Storage.close()
    Storage.use(RecordFiles)
    await assert.rejects(useDatabase(database.url), { name: "Database.Unusable", message: /it is read-only/ })
    await database.query(
      `begin read write; alter database ${name} reset default_transaction_read_only; commit`,
    )
    await database.query("update vitamin.version set version = 99, oldest = 99")
    await assert.rejects(useDatabase(database.url), {
      name: "Database.Unusable",
      message: /its tables have version 99, and this vitamin knows up to \d+\. Upgrade this vitamin$/,
    })
    await database.query(`create database ${name}_latin encoding 'LATIN1' locale 'C' template template0`)
    await assert.rejects(useDatabase(database.url.replace(name, `${name}_latin`)), {
      message: /its encoding is LATIN1/,
    })
    await database.query(`drop database ${name}_latin`)
    assert.ok(tmp.path)
  },
)

test(
  "ten processes that start at once create the tables once, and bring old ones to the newest version",
  real,
  async () => {
    await using tmp = await tmpdir()
    await using database = await tmpDatabase()
    const env = { ...tmp.env, VITAMIN_DATABASE: database.url }
    const start = async () => {
      const children = Array.from({ length: 10 }, () =>
        runFixture("storage-counter.ts", { args: ["3"], env }),
      )
      for (const child of children) assert.equal(await child.exit, 0, child.errors())
    }
    await start()
    assert.deepEqual(await database.query("select body from vitamin.record"), [{ body: '{"n":30}' }])
    const [before] = await database.query("select * from vitamin.version")
    // The tables as the first version had them.
    await database.query(firstVersion)
    await start()
    assert.deepEqual(await database.query("select * from vitamin.version"), [before])
    assert.deepEqual(await database.query("select body from vitamin.record"), [{ body: '{"n":60}' }])
  },
)

test(
  "Storage in PostgreSQL stores 10 MB in a record, and lists 10 000 records and 1 000 folders",
  real,
  async () => {
    await using store = await tmpStore("PostgreSQL")
    const large = { text: `${"0123456789".repeat(1_000_000)}'"\\\u0000\ud800` }
    await Storage.write(["large", "one"], large)
    await Storage.update<{ n?: number }>(["large", "one"], (draft) => {
      draft.n = 1
    })
    assert.deepEqual(await Storage.read(["large", "one"]), { ...large, n: 1 })
    const names = Array.from({ length: 10_000 }, (_, i) => `r${i}`)
    await store.lay(names.map((name) => [["many", name], "1"]))
    assert.deepEqual(await Storage.list(["many"]), names.toSorted())
    await store.lay(names.map((name, i) => [["folders", `f${i % 1_000}`, name], "1"]))
    const folders = new Set(names.map((_, i) => `f${i % 1_000}`))
    assert.deepEqual(await Storage.list(["folders"]), [...folders].sort())
  },
)

test("Storage keeps records of the machine in files beside a database", real, async () => {
  await using store = await tmpStore("PostgreSQL")
  await Storage.write(["trust", "x"], { n: 1 })
  await Storage.write(["session", "p", "s"], { n: 2 })
  assert.equal(await store.plain("trust", "x"), undefined)
  assert.equal(await store.plain("session", "p", "s"), '{"n":2}')
  assert.deepEqual(await Storage.list([]), ["session", "trust"])
  assert.deepEqual(await Storage.check(), { records: 2, broken: [] })
  await Storage.close()
  Storage.use(RecordFiles)
  assert.deepEqual(await Storage.list([]), ["trust"])
})
