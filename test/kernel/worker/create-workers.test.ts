// Which worker counts as alive, and when a lease is asked for again.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { open } from "#kernel/database/database.ts"
import { createWorkers } from "#kernel/worker/create-workers.ts"
import type { Workers } from "#kernel/worker/worker.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }

async function withWorkers(url: string, work: (workers: Workers) => Promise<void>): Promise<void> {
  const database = await open(url)
  const workers = createWorkers(database)
  try {
    await work(workers)
  } finally {
    await workers.close()
    await database.close()
  }
}

/** Whether PostgreSQL has started less than 3.5 seconds ago. */
async function isYoung(database: TmpDatabase): Promise<boolean> {
  const text = "select clock_timestamp() - pg_postmaster_start_time() < interval '3.5 s' as young"
  return (await database.query<{ young: boolean }>(text))[0]!.young
}

/** Heartbeats of workers change nothing: what they write is an hour old. */
const oldHeartbeats = `create function old() returns trigger language plpgsql as $$
    begin new.seen := now() - interval '1 hour'; return new; end $$;
  create trigger old before update on vitamin.worker for each row execute function old();
  update vitamin.worker set slots = 1`

test(
  "nobody but a worker that was stopped counts as dead right after a start of PostgreSQL",
  real,
  async () => {
    await using database = await tmpDatabase()
    await withWorkers(database.url, async (workers) => {
      await database.query(`insert into vitamin.worker (id, seen)
      values ('silent', now() - interval '1 hour'), ('stopped', '-infinity')`)
      await database.query(`insert into vitamin.lease values
      ('one', 'silent', nextval('vitamin.epoch')), ('two', 'stopped', nextval('vitamin.epoch'))`)
      // The first lease begins the heartbeats.
      await workers.take("three")
      const holders = () => Promise.all([workers.holderOf("one"), workers.holderOf("two")])
      await until(async () => !(await isYoung(database)), "an old server")
      assert.deepEqual(await holders(), [undefined, undefined])
      let found: unknown
      // A slow machine may need more than one attempt to ask in time.
      await until(async () => {
        await (await cluster()).restart()
        found = await holders()
        return isYoung(database)
      }, "an answer of a young server")
      assert.deepEqual(found, ["silent", undefined])
    })
  },
)

test("a worker that falls silent together with others waits for them when it is back", real, async () => {
  await using database = await tmpDatabase()
  await withWorkers(database.url, async (workers) => {
    const found = Promise.withResolvers<unknown>()
    await database.query(
      "insert into vitamin.worker (id, seen) values ('long dead', now() - interval '1 hour')",
    )
    const waited = `select clock_timestamp() > silent_to + interval '2.5 s' as waited
      from vitamin.worker where silent_to is not null`
    const dead: string[] = []
    await workers.serve(async (worker) => {
      dead.push(worker)
      if (worker === "other") found.resolve(await database.query(waited))
    }, 1)
    await until(async () => !(await isYoung(database)), "an old server")
    await until(() => dead.includes("long dead"), "the death of the first one")
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    // Nobody can send a heartbeat.
    await client.query("begin; lock table vitamin.worker in exclusive mode")
    await client.query("insert into vitamin.worker (id, seen) select 'other', max(seen) from vitamin.worker")
    await sleep(3_000)
    await client.query("commit")
    await client.end()
    assert.deepEqual(await found.promise, [{ waited: true }])
  })
})

test("a worker that has just started does not count others as dead", real, async () => {
  await using database = await tmpDatabase()
  await withWorkers(database.url, async (workers) => {
    await until(async () => !(await isYoung(database)), "an old server")
    await database.query(`insert into vitamin.worker (id, seen) values ('silent', now() - interval '1 hour');
      create table first as select clock_timestamp() as beat`)
    const found = Promise.withResolvers<unknown>()
    const waited = "select clock_timestamp() > beat + interval '2.5 s' as waited from first"
    await workers.serve(async () => found.resolve(await database.query(waited)), 1)
    assert.deepEqual(await found.promise, [{ waited: true }])
  })
})

test("nobody counts as dead for a worker whose own heartbeats do not arrive", real, async () => {
  await using database = await tmpDatabase()
  await withWorkers(database.url, async (workers) => {
    await workers.serve(async () => {}, 1)
    await until(async () => !(await isYoung(database)), "an old server")
    await database.query(`${oldHeartbeats};
      insert into vitamin.worker (id, seen) values ('other', now() - interval '1 minute');
      insert into vitamin.lease values ('one', 'other', nextval('vitamin.epoch'))`)
    assert.equal(await workers.holderOf("one"), "other")
    await database.query("drop trigger old on vitamin.worker")
    await until(async () => (await workers.holderOf("one")) === undefined, "a heartbeat")
  })
})

test("a worker whose own heartbeats do not arrive takes no lease of others", real, async () => {
  await using database = await tmpDatabase()
  await withWorkers(database.url, async (workers) => {
    await workers.serve(async () => {}, 1)
    await until(async () => !(await isYoung(database)), "an old server")
    await database.query(`${oldHeartbeats};
      insert into vitamin.lease values ('one', 'nobody', nextval('vitamin.epoch'))`)
    await assert.rejects(workers.take("one"), { name: "Worker.SessionBusy" })
    await database.query("drop trigger old on vitamin.worker")
    await until(async () => workers.take("one").catch(() => undefined), "the lease")
  })
})

test("a worker that cannot be taken over does not keep others from being taken over", real, async () => {
  await using database = await tmpDatabase()
  await withWorkers(database.url, async (workers) => {
    const tried: string[] = []
    await database.query(
      "insert into vitamin.worker (id, seen) values ('first', '-infinity'), ('second', '-infinity')",
    )
    await workers.serve(async (worker) => {
      tried.push(worker)
      if (worker === "first") throw new Error("not now")
    }, 1)
    await until(() => tried.includes("second"), "the second worker")
    assert.ok(tried.indexOf("first") < tried.indexOf("second"))
    await until(() => tried.filter((worker) => worker === "first").length > 1, "another attempt")
  })
})

test("a worker that is cut off while it takes over leaves that work to others", real, async () => {
  await using database = await tmpDatabase()
  const { port } = await cluster()
  await using network = await networkTo(port)
  await withWorkers(database.url.replace(`:${port}/`, `:${network.port}/`), async (first) => {
    await database.query("insert into vitamin.worker (id, seen) values ('dead', '-infinity')")
    const [begun, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await first.serve(async () => {
      network.cut()
      begun.resolve()
      await taken.promise
    }, 1)
    await begun.promise
    await withWorkers(database.url, async (second) => {
      await second.serve(async (worker) => {
        if (worker === "dead") taken.resolve()
      }, 1)
      await taken.promise
      const left = () => database.query("select from vitamin.worker where id = 'dead'")
      await until(async () => (await left()).length === 0, "the end of the takeover")
    })
    network.mend()
  })
})

test("a lease is checked again if the answer took longer than a second", real, async () => {
  await using database = await tmpDatabase()
  const { port } = await cluster()
  await using network = await networkTo(port)
  await withWorkers(database.url.replace(`:${port}/`, `:${network.port}/`), async (workers) => {
    const lease = await workers.take("session-one")
    await workers.check([lease])
    const held = network.hold()
    const checked = workers.check([lease])
    checked.catch(() => {})
    // The database has answered that the lease is in place. Then another worker takes it.
    await until(() => held.some(({ bytes }) => bytes.includes("session-one")), "the answer")
    await database.query("update vitamin.lease set worker = 'another', epoch = nextval('vitamin.epoch')")
    await sleep(1_100)
    network.release()
    await assert.rejects(checked, { name: "Worker.TakenOver" })
  })
})

test("an attempt that is counted twice, because a takeover was interrupted, counts once", real, async () => {
  await using database = await tmpDatabase()
  await withWorkers(database.url, async (workers) => {
    const counts = []
    for (const worker of ["first", "first", "second"]) counts.push(await workers.countAttempt("job", worker))
    assert.deepEqual(counts, [1, 1, 2])
  })
})
