// Changes in PostgreSQL that are refused, because another worker has the session or another process the record. The
// rest of their transaction goes on.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { leaseLock, open, recordLock } from "#kernel/database/database.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { createWorkers } from "#kernel/worker/create-workers.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 60_000 }

async function connect(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { query: client.query.bind(client), [Symbol.asyncDispose]: () => client.end() }
}

test("a change of work that another worker has taken over is not stored, and others are", real, async () => {
  await using store = await tmpStore("PostgreSQL")
  await using other = await connect(store.env.VITAMIN_DATABASE!)
  const lease = (await Worker.take("sess_a"))!
  await Worker.run(lease, () => Storage.write(["area", "before"], 1))
  await other.query("update vitamin.lease set worker = 'another', epoch = nextval('vitamin.epoch')")
  const [mine, free] = await Promise.allSettled([
    Worker.run(lease, () => Storage.write(["area", "fenced"], 1)),
    Storage.write(["area", "free"], 1),
  ])
  assert.equal((mine as PromiseRejectedResult).reason?.name, "Worker.TakenOver")
  assert.equal(free.status, "fulfilled")
  assert.deepEqual(await Storage.list(["area"]), ["before", "free"])
  assert.equal(lease.signal.aborted, true)
})

test("a lease is not taken while a change that depends on it is being committed", real, async () => {
  await using store = await tmpStore("PostgreSQL")
  const url = store.env.VITAMIN_DATABASE!
  await using gate = await connect(url)
  await using watcher = await connect(url)
  const lease = (await Worker.take("sess_a"))!
  // The lease counts as that of a dead worker.
  await watcher.query("update vitamin.lease set worker = 'dead'")
  await watcher.query(`create function wait() returns trigger language plpgsql as $$ begin
      perform set_config('lock_timeout', '0', true), pg_advisory_xact_lock(7);
      return null;
    end $$;
    create constraint trigger wait after insert on vitamin.record deferrable initially deferred
      for each row execute function wait()`)
  await gate.query("select pg_advisory_lock(7)")
  const waits = async (lock: string) => {
    const text = `select from pg_locks where locktype = 'advisory' and not granted
      and (classid::bigint << 32) + objid::bigint = $1::bigint`
    return (await watcher.query(text, [lock])).rows.length > 0
  }
  const written = Worker.run(lease, () => Storage.write(["area", "one"], 1))
  await until(() => waits("7"), "the commit")
  const database = await open(url)
  const workers = createWorkers(database)
  try {
    const taken = workers.take("sess_a")
    const first = await Promise.race([
      taken.then(() => "taken"),
      until(() => waits(leaseLock("sess_a"))).then(() => "waits"),
    ])
    assert.equal(first, "waits")
    await gate.query("select pg_advisory_unlock_all()")
    await written
    await taken
  } finally {
    await workers.close()
    await database.close()
  }
  await assert.rejects(
    Worker.run(lease, () => Storage.write(["area", "two"], 1)),
    { name: "Worker.TakenOver" },
  )
})

test("a change that was refused is not stored when its transaction is repeated", real, async () => {
  await using store = await tmpStore("PostgreSQL")
  await Storage.write(["area", "first"], 1)
  await using other = await connect(store.env.VITAMIN_DATABASE!)
  await other.query(`create sequence tries; create function conflict() returns trigger language plpgsql as $$ begin
      if nextval('tries') = 1 then raise exception using errcode = '40001'; end if;
      return new;
    end $$;
    create trigger conflict before insert on vitamin.record for each row execute function conflict()`)
  let calls = 0
  const [refused, stored] = await Promise.allSettled([
    Storage.update(
      ["area", "refused"],
      () => {
        if (++calls === 1) throw new Error("not this one")
      },
      { initial: {} },
    ),
    Storage.write(["area", "stored"], 1),
  ])
  assert.deepEqual([refused.status, stored.status], ["rejected", "fulfilled"])
  assert.deepEqual(await Storage.list(["area"]), ["first", "stored"])
})

test("after a record was locked for too long, the next change is stored", real, async () => {
  await using store = await tmpStore("PostgreSQL")
  await Storage.write(["area", "one"], 1)
  await using other = await connect(store.env.VITAMIN_DATABASE!)
  await other.query("select pg_advisory_lock($1)", [recordLock("area/one")])
  await assert.rejects(Storage.write(["area", "one"], 2), { name: "Storage.Locked" })
  await Storage.write(["area", "two"], 2)
  await other.query("select pg_advisory_unlock_all()")
  await Storage.write(["area", "one"], 3)
  assert.equal(await Storage.read(["area", "one"]), 3)
})
