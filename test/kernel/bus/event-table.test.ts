// The event log of servers that share a database: order, ids, limits, lost notifications.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import type { SharedEventLog } from "#kernel/bus/event-log.ts"
import { createEventTable } from "#kernel/bus/event-table.ts"
import { open } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { createRecordTables } from "#kernel/storage/record-tables.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 90_000 }

/** A log, what it delivers, and how a server publishes. */
async function openLog(tmp: { url: string }, options: Parameters<typeof createEventTable>[1] = {}) {
  const database = await open(tmp.url)
  const log = await createEventTable(database, options)
  let text = ""
  log.follow(({ live }) => {
    text += live
  })
  return {
    log,
    text: () => text,
    ids: () => idsIn(text),
    publish(names: string[], size = 10) {
      for (const n of names)
        log.publish({ id: 1, type: "t.t", time: 1, directory: "/a", payload: { n, text: "x".repeat(size) } })
    },
    async [Symbol.asyncDispose]() {
      await log.close()
      await database.close()
    },
  }
}

function idsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)\nevent: t/gm)].map((match) => Number(match[1]))
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

async function replay(log: SharedEventLog, id: number): Promise<string> {
  const place = await log.locate(id)
  assert.ok(place)
  let text = ""
  for (let offset = place.offset; offset < log.end(); ) {
    const part = await log.read(offset, 500)
    assert.ok(part, `nothing at ${offset} of ${log.end()}`)
    text += part.bytes
    offset = part.next
  }
  return text
}

test(
  "createEventTable() delivers the events of three servers to each, in one order without gaps, and replays them",
  real,
  async () => {
    await using folder = await tmpdir()
    await using tmp = await tmpDatabase()
    const file = folder.write("log", "")
    Log.setFile(file)
    await using a = await openLog(tmp)
    await using b = await openLog(tmp)
    await using c = await openLog(tmp)
    for (let round = 0; round < 30; round++) {
      for (const [i, one] of [a, b, c].entries()) one.publish(names(`${i}-${round}-`, 1 + ((round + i) % 4)))
      await new Promise((resolve) => setTimeout(resolve, round % 3))
    }
    await until(() => [a, b, c].every((one) => one.ids().length >= 225), "225 events")
    for (const one of [a, b, c]) {
      assert.deepEqual(one.ids(), upTo(225))
      assert.equal(one.text(), a.text())
      assert.equal(one.log.lastId(), 225)
    }
    for (const id of [0, 1, 100, 224, 225])
      assert.deepEqual(idsIn(await replay(b.log, id)), upTo(225).slice(id))
    assert.equal(await replay(c.log, 0), a.text())
    assert.equal(await c.log.locate(226), undefined)
    // Servers wait for each other; none gets a number that another one has taken.
    assert.equal(readFileSync(file, "utf8"), "")
    Log.setFile(undefined)
    await using late = await openLog(tmp)
    assert.equal(late.log.lastId(), 225)
    assert.equal(await replay(late.log, 0), a.text())
  },
)

test("createEventTable() reads what was announced while its connection was lost", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using a = await openLog(tmp)
  await using b = await openLog(tmp)
  a.publish(names("a", 3))
  await until(() => b.ids().length === 3)
  for (let round = 1; round <= 5; round++) {
    // Every connection of both, those that listen among them.
    await tmp.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'vitamin %' and datname = current_database()",
    )
    a.publish(names("a", 10))
    b.publish(names("b", 10))
    await until(() => [a, b].every((one) => one.ids().length === 3 + 20 * round), `round ${round}`)
  }
  assert.deepEqual(a.ids(), upTo(103))
  assert.equal(a.text(), b.text())
})

test(
  "createEventTable() removes old events by number and by size, and reports a gap to an old cursor",
  real,
  async () => {
    await using _ = await tmpdir()
    await using tmp = await tmpDatabase()
    for (const [options, size] of [
      [{ maxEvents: 300 }, 10],
      [{ maxBytes: 100_000 }, 500],
    ] as const) {
      await using one = await openLog(tmp, options)
      const before = one.log.lastId()
      for (let n = 0; n < 2_000; n += 100) {
        one.publish(names("x", 100), size)
        await until(() => one.log.lastId() === before + n + 100)
      }
      const first = async () => (await one.log.locate(before))?.gap?.from ?? 0
      // Old events are removed after the last of every thousand is delivered.
      await until(async () => (await first()) > before + 1_000, "old events are removed")
      const from = await first()
      assert.ok(from <= before + 2_000 - 150, String(from))
      const kept = idsIn(await replay(one.log, before))
      assert.deepEqual([kept[0], kept.at(-1)], [from, before + 2_000])
      assert.equal((await one.log.locate(from - 1))?.gap, undefined)
      assert.equal(await one.log.read(0, 1_000), undefined)
    }
  },
)

test(
  "createEventTable() keeps live events in their place, and sends none to a server without clients",
  real,
  async () => {
    await using _ = await tmpdir()
    await using tmp = await tmpDatabase()
    await using a = await openLog(tmp)
    await using b = await openLog(tmp)
    a.publish(["1"])
    a.log.publish({ type: "t.live", time: 1, directory: "/a", payload: { n: "2" } })
    a.publish(["3"])
    await until(() => b.ids().length === 2 && a.ids().length === 2)
    assert.deepEqual(
      [...a.text().matchAll(/"n":"(\d)"/g)].map(([, n]) => n),
      ["1", "2", "3"],
    )
    assert.deepEqual(
      [...b.text().matchAll(/"n":"(\d)"/g)].map(([, n]) => n),
      ["1", "3"],
    )
    assert.equal(await replay(a.log, 0), b.text())
  },
)

test("createEventTable() goes on after notifications of strangers", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using a = await openLog(tmp)
  await using b = await openLog(tmp)
  for (const text of ["nonsense", "", "-1", "1e300", "99999999"])
    await tmp.query("select pg_notify('vitamin_event', $1)", [text])
  a.publish(names("a", 3))
  await until(() => b.ids().length === 3)
  assert.deepEqual(b.ids(), upTo(3))
})

test(
  "createEventTable() finds events of others without notifications, and after its network was cut",
  real,
  async () => {
    await using _ = await tmpdir()
    await using tmp = await tmpDatabase()
    const { port } = await cluster()
    await using network = await networkTo(port)
    await using a = await openLog(tmp)
    await using b = await openLog({ url: tmp.url.replace(`:${port}/`, `:${network.port}/`) })
    a.publish(names("a", 3))
    await until(() => b.ids().length === 3)
    network.cut()
    network.mend()
    // Its connection to listen is dead, and nobody told it so.
    a.publish(names("a", 3))
    await until(() => b.ids().length === 6)
    // A notification that is lost on the way, as behind a pool of connections.
    await tmp.query(
      `with head as (update vitamin.event_head set seq = 7, position = position + 30 returning position)
        insert into vitamin.event select 7, position, E'id: 7\\nevent: t.t\\ndata: {"id":7}\\n\\n' from head`,
    )
    await until(() => b.ids().length === 7 && a.ids().length === 7)
  },
)

test(
  "createEventTable() stores events once when the database goes away during their commit, for however long",
  real,
  async () => {
    await using _ = await tmpdir()
    await using tmp = await tmpDatabase()
    const { port } = await cluster()
    let commits = 0
    await using network = await networkTo(port, (answer) => !(answer.includes("COMMIT\0") && ++commits === 2))
    await using a = await openLog(tmp)
    await using b = await openLog({ url: tmp.url.replace(`:${port}/`, `:${network.port}/`) })
    b.publish(["first"])
    await until(() => b.ids().length === 1)
    b.publish(["second"])
    // Longer than the time for which a query and a write of a record wait.
    await until(() => a.ids().length === 2)
    await new Promise((resolve) => setTimeout(resolve, 25_000))
    b.publish(["third"])
    network.mend()
    await until(() => b.ids().length === 3 && a.ids().length === 3)
    assert.deepEqual(b.ids(), upTo(3))
    assert.equal(a.text(), b.text())
  },
)

test("the queries of records and events read what they return, however much there is", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  const database = await open(tmp.url)
  await tmp.query(
    `insert into vitamin.event select n, n * 100, repeat('x', 100) from generate_series(1, 20000) n;
      insert into vitamin.record (parent, name, body, changed)
        select 'session/p', 's' || n, '{}', now() + n * interval '1 s' from generate_series(1, 10000) n;
      insert into vitamin.record select 'message/s' || n / 100, 'm' || n % 100, '{}' from generate_series(1, 100000) n;
      update vitamin.event_head set seq = 20000, position = 2000000; analyze`,
  )
  await tmp.query("select pg_stat_reset()")
  const log = await createEventTable(database)
  try {
    assert.equal((await log.locate(5))?.offset, 500)
    for (let i = 0; i < 10; i++) assert.equal((await log.read(500, 10_000))?.next, 10_500)
    const records = createRecordTables(database)
    assert.equal((await records.newest(["session", "p"], 10))[0], "s10000")
    await records.readEach(["message", "s7"], ["m1", "m2"], () => {})
    // Statistics of a connection are written when it ends, or a second after its last use.
    await log.close()
    await records.close()
  } finally {
    await database.close()
  }
  let fetched = 0
  await until(async () => {
    const text =
      "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as n from pg_stat_user_tables where relname in ('event', 'record')"
    fetched = (await tmp.query<{ n: number }>(text))[0]!.n
    return fetched > 0
  })
  assert.ok(fetched < 5_000, `${fetched} rows were read`)
})
