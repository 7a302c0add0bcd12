// One connection to PostgreSQL that ends at a bad moment.
import assert from "node:assert/strict"
import { test } from "node:test"
import type pg from "pg"
import { type Client, createConnection, retrying } from "#kernel/database/connection.ts"
import { type Network, networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }

/** The address of a database through a network. */
async function through(database: TmpDatabase, network: Network): Promise<string> {
  return database.url.replace(`:${(await cluster()).port}/`, `:${network.port}/`)
}

/** Ends all connections of vitamin. */
const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name like 'vitamin %'`
const own = `select 1 from pg_stat_activity
  where datname = current_database() and application_name like 'vitamin %'`

test("the late end of an old connection leaves the new one in use", real, async () => {
  await using database = await tmpDatabase()
  // The server says that it ends the connection. Its end itself does not arrive.
  await using network = await networkTo((await cluster()).port, (answer) => {
    if (answer.includes("57P01")) queueMicrotask(network.cut)
    return true
  })
  const connection = createConnection({ url: await through(database, network), shown: "test" })
  const old = (await connection.client()) as pg.Client
  const told = new Promise((resolve) => old.once("error", resolve))
  await database.query(terminate)
  await told
  network.mend()
  const now = await connection.client()
  assert.notEqual(now, old)
  const ended = new Promise((resolve) => old.once("end", () => resolve(undefined)))
  old.connection.stream.destroy()
  await ended
  assert.equal(await connection.client(), now)
  await connection.close()
})

test("a connection that is refused after it was opened does not stay open", real, async () => {
  await using database = await tmpDatabase()
  const connection = createConnection({ url: database.url, shown: "test" }, async () => {
    throw new Error("not this one")
  })
  await assert.rejects(connection.client(), { message: "not this one" })
  await until(async () => (await database.query(own)).length === 0, "its end")
})

test("PostgreSQL notices that the machine of a connection is gone within seconds", real, async () => {
  await using database = await tmpDatabase()
  const connection = createConnection({ url: database.url, shown: "test" })
  const names = ["idle", "interval", "count"].map((name) => `tcp_keepalives_${name}`)
  const text = "select array(select current_setting(n)::int from unnest($1::text[]) n) as found"
  const { rows } = await (await connection.client()).query<{ found: number[] }>(text, [names])
  await connection.close()
  const [idle, interval, count] = rows[0]!.found as [number, number, number]
  assert.ok(idle > 0 && idle + interval * count < 15, `${idle} + ${interval} × ${count}`)
})

const endings = {
  "57P01": (_: Client, database: TmpDatabase) => database.query(terminate),
  "25P03": (client: Client) => client.query("set idle_in_transaction_session_timeout = '100 ms'; begin"),
  "57P05": (client: Client) => client.query("set idle_session_timeout = '100 ms'"),
}
for (const [code, end] of Object.entries(endings))
  test(`a query is repeated if the server ended the connection before it came (${code})`, real, async () => {
    await using database = await tmpDatabase()
    await using network = await networkTo((await cluster()).port)
    const connection = createConnection({ url: await through(database, network), shown: "test" })
    const client = await connection.client()
    const held = network.hold()
    void end(client, database)
    await until(() => held.some(({ bytes }) => bytes.includes(code)), "the end of the connection")
    // The server has said so, and this process does not know it yet.
    const found = retrying(async () => (await (await connection.client()).query("select 1 as n")).rows)
    network.release()
    assert.deepEqual(await found, [{ n: 1 }])
    await connection.close()
  })

test("a query waits for a connection if the database has none left", real, async () => {
  await using database = await tmpDatabase()
  const refused = Promise.withResolvers<void>()
  await using network = await networkTo((await cluster()).port, (answer) => {
    if (answer.includes("53300")) refused.resolve()
    return true
  })
  const url = new URL(await through(database, network))
  // The user of the tests is a superuser, who is never refused.
  url.username = `limited_${process.pid}`
  await database.query(`create role ${url.username} login password '${url.password}' connection limit 0`)
  const connection = createConnection({ url: url.href, shown: "test" })
  const found = retrying(async () => (await (await connection.client()).query("select 1 as n")).rows)
  await refused.promise
  await database.query(`alter role ${url.username} connection limit 1`)
  assert.deepEqual(await found, [{ n: 1 }])
  await connection.close()
  await database.query(`drop role ${url.username}`)
})
