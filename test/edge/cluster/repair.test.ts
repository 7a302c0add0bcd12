// What a lost connection leaves in the database does not block a session: leases that nobody holds, jobs that nobody runs.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { noPostgres, type TmpDatabase } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { newSession, startFleet, type Worker } from "./harness.ts"

async function prompt(worker: Worker, session: string) {
  const { status, body } = await worker.call("POST", `/session/${session}/message`, { text: "Go." })
  assert.equal(status, 200, JSON.stringify(body))
}

/** From now on jobs are taken in the name of a worker, an expression of SQL, as soon as they may run. */
async function takeNextJobs(database: TmpDatabase, worker: string) {
  await database.query(`create function take() returns trigger language plpgsql as $$
    begin
      new.status := 'PENDING';
      new.executor_id := ${worker};
      return new;
    end $$;
    create trigger take before update on vitamin_jobs.workflow_status
      for each row when (new.queue_name = 'vitamin' and old.queue_name <> 'vitamin') execute function take()`)
}

test("a lease that a worker could not release is removed with a later heartbeat", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(1, llm)
  const { database } = fleet
  const [worker] = fleet.workers
  const session = await newSession(worker!)
  await prompt(worker!, session)
  await database.query(
    "insert into vitamin.lease select $1, id, nextval('vitamin.epoch') from vitamin.worker",
    ["left"],
  )
  await until(async () => (await database.query("select from vitamin.lease")).length === 0, "no lease")
})

test("a job that its worker does not know is put back", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(1, llm)
  const { database } = fleet
  const [worker] = fleet.workers
  const session = await newSession(worker!)
  await prompt(worker!, session)
  // The answer of the database is lost.
  await takeNextJobs(database, "(select id from vitamin.worker)")
  await prompt(worker!, session)
})

test("a job of a dead worker that nobody knows any more is run by another one", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(1, llm)
  const { database } = fleet
  const [worker] = fleet.workers
  const session = await newSession(worker!)
  await prompt(worker!, session)
  // It took the job after its row was removed, and died.
  await takeNextJobs(database, "'a dead worker'")
  await prompt(worker!, session)
  const left = () => database.query("select from vitamin.worker where id = 'a dead worker'")
  await until(async () => (await left()).length === 0, "the dead worker is removed")
})

test("a worker that was cut off from the database goes on with its jobs when the network is back", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(0, llm)
  const url = new URL(fleet.database.url)
  await using network = await networkTo(Number(url.port))
  url.port = String(network.port)
  const worker = await fleet.start({ database: url.href })
  const session = await newSession(worker)
  await prompt(worker, session)
  network.cut()
  const answer = prompt(worker, session)
  const silent = `select from vitamin.worker where seen < clock_timestamp() - interval '2 s'`
  await until(async () => (await fleet.database.query(silent)).length === 1, "silence")
  network.mend()
  await answer
  await prompt(worker, session)
})
