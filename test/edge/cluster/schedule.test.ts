// Schedules over several workers: each time is one run, whatever happens to the workers.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import pg from "pg"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { startFleet, story } from "./harness.ts"
import {
  addSchedule,
  checkRuns,
  infoOf,
  never,
  runsOf,
  schedule,
  setTimes,
  untilIdle,
  untilRuns,
} from "./schedule-harness.ts"

const real = { skip: noPostgres, timeout: 180_000 }

test(
  "a schedule runs once at each time over three workers, each run in a session of its own",
  real,
  async () => {
    await using llm = await fakeLlm(() => text("Done."))
    await using fleet = await startFleet(3, llm)
    const id = await addSchedule(fleet, "Look after it.\nThen stop.")
    const before = await infoOf(fleet.workers[0]!, id)
    assert.ok(before.next > Date.now() && before.next % 60_000 === 0, JSON.stringify(before))
    assert.deepEqual([before.timezone, before.paused, before.last], ["UTC", false, undefined])
    assert.equal(before.directory, fleet.tmp.path)
    await setTimes(fleet, id)
    await untilRuns(fleet.workers[1]!, id, 4)
    await setTimes(fleet, id, never)
    await untilIdle(fleet)

    const runs = await checkRuns(fleet.workers[2]!, id, "Look after it.\nThen stop.")
    assert.equal(llm.requests.length, runs.length)
    assert.equal(runs[0]!.title, "Schedule: Look after it.")
    const { last } = await infoOf(fleet.workers[0]!, id)
    const newest = runs.at(-1)!
    assert.deepEqual(last, { time: newest.metadata.due, result: "done", sessionId: newest.id })
    const { out } = await schedule(fleet, "list")
    assert.match(out, new RegExp(`^${id} .* owner .*Look after it\\.\\n {4}last .* done {2}${newest.id}`))
  },
)

test("a paused or removed schedule does not run", real, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(2, llm)
  const [worker] = fleet.workers as [(typeof fleet.workers)[0]]
  const ids = [
    await addSchedule(fleet, "Paused."),
    await addSchedule(fleet, "Removed."),
    await addSchedule(fleet, "Goes on."),
  ] as const
  const [paused, removed, other] = ids
  for (const id of ids) await setTimes(fleet, id)
  for (const id of ids) await untilRuns(worker, id, 1)
  assert.equal((await schedule(fleet, "pause", paused)).code, 0)
  assert.equal((await schedule(fleet, "remove", removed)).code, 0)
  // Ticks from before have read the schedule.
  const open = `select 1 from vitamin_jobs.workflow_status
    where status in ('ENQUEUED', 'PENDING') and schedule_name in ($1, $2)`
  await until(async () => !(await fleet.database.query(open, [paused, removed])).length, "earlier ticks")
  const count = async (id: string) => (await runsOf(worker, id)).length
  const before = [await count(paused), await count(removed)]
  await untilRuns(worker, other, (await count(other)) + 3)
  assert.deepEqual([await count(paused), await count(removed)], before)
  const { next, paused: isPaused } = await infoOf(worker, paused)
  assert.deepEqual([next, isPaused], [undefined, true])
  assert.equal(await infoOf(worker, removed), undefined)
  assert.equal((await schedule(fleet, "resume", paused)).code, 0)
  await untilRuns(worker, paused, before[0]! + 1)
})

/** Where a worker ends while it starts a run, as the condition of a trigger. */
const ends = {
  "before the session is stored":
    "before insert on vitamin.record for each row when (new.body like '%\"scheduleId\"%')",
  "before the prompt is stored":
    "before insert on vitamin_jobs.workflow_status for each row when (new.name = 'prompt')",
  "after the prompt is stored":
    "before update on vitamin_jobs.workflow_status for each row when (new.name = 'schedule' and new.status = 'SUCCESS')",
}

const cases = [
  ["SIGKILL", "before the prompt is stored"],
  ["SIGKILL", "after the prompt is stored"],
  ["SIGTERM", "before the session is stored"],
] as const

for (const [signal, where] of cases)
  test(`a run goes on once at another worker if its worker gets ${signal} ${where}`, real, async () => {
    await using llm = await fakeLlm(() => text("Done."))
    await using fleet = await startFleet(3, llm)
    // The first that comes waits for the end of the lock 7.
    await fleet.database.query(`create function hold() returns trigger language plpgsql as
      $$ begin if pg_try_advisory_lock(8) then perform pg_advisory_xact_lock_shared(7); end if; return new; end $$`)
    await fleet.database.query(`create trigger hold ${ends[where]} execute function hold()`)
    const gate = new pg.Client({ connectionString: fleet.database.url })
    // If the test fails, the database goes away under it.
    gate.on("error", () => {})
    await gate.connect()
    await gate.query("select pg_advisory_lock(7)")
    const id = await addSchedule(fleet, "Do it.")
    await setTimes(fleet, id)
    const waits = "select 1 from pg_locks where locktype = 'advisory' and not granted"
    await until(async () => (await fleet.database.query(waits)).length, "the worker that waits")
    await setTimes(fleet, id, never)
    const [tick] = await fleet.database.query<{ executor: string }>(
      `select executor_id as executor from vitamin_jobs.workflow_status
        where name = 'schedule' and status = 'PENDING' order by workflow_uuid limit 1`,
    )
    const starting = fleet.workers.find(({ child }) => tick!.executor.includes(`-${child.process.pid}-`))!
    const other = fleet.workers.find((one) => one !== starting)!
    if (where.startsWith("after"))
      await until(async () => {
        const [run] = await runsOf(other, id)
        return run && (await story(other, run.id)).length === 2
      }, "the answer")
    starting.signal(signal)
    const isGone = () =>
      fetch(starting.url).then(
        () => false,
        () => true,
      )
    await until(isGone, "the end of its server")
    await gate.end()
    await starting.child.exit
    await untilIdle(fleet)

    const runs = await checkRuns(other, id, "Do it.")
    for (const run of runs) assert.deepEqual((await other.call("GET", `/session/${run.id}/prompt`)).body, [])
    const { last } = await infoOf(other, id)
    assert.deepEqual(last, { time: runs.at(-1)!.metadata.due, result: "done", sessionId: runs.at(-1)!.id })
  })

test("a time that is fired again after its job was removed does not run again", real, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(1, llm)
  const [worker] = fleet.workers as [(typeof fleet.workers)[0]]
  const id = await addSchedule(fleet, "Do it.")
  await setTimes(fleet, id)
  await untilRuns(worker, id, 2)
  await setTimes(fleet, id, never)
  await untilIdle(fleet)
  const before = await checkRuns(worker, id, "Do it.")
  await fleet.database.query("delete from vitamin_jobs.workflow_status where name = 'prompt'")
  const again = `update vitamin_jobs.workflow_status
    set status = 'ENQUEUED', executor_id = null, output = null, completed_at = null, started_at_epoch_ms = null,
      queue_name = 'vitamin-schedule' where name = 'schedule' returning 1`
  assert.ok((await fleet.database.query(again)).length >= 2)
  await untilIdle(fleet)
  assert.deepEqual(await checkRuns(worker, id, "Do it."), before)
  assert.equal(llm.requests.length, before.length)
})

test(
  "a schedule survives the end of all servers, and the times without one are not made up for",
  real,
  async () => {
    await using llm = await fakeLlm(() => text("Done."))
    await using fleet = await startFleet(2, llm)
    const id = await addSchedule(fleet, "Again.")
    await setTimes(fleet, id)
    await untilRuns(fleet.workers[0]!, id, 1)
    for (const { child } of fleet.workers) child.process.kill("SIGTERM")
    await Promise.all(fleet.workers.map(({ child }) => child.exit))
    const stopped = Date.now()
    await until(() => Date.now() > stopped + 2_500, "some times without a server")
    const back = Date.now()
    const worker = await fleet.start()
    await until(async () => {
      const runs = await runsOf(worker, id)
      return runs.some(({ metadata }) => metadata.due > back)
    }, "a run after the restart")
    await setTimes(fleet, id, never)
    await untilIdle(fleet)
    const runs = await checkRuns(worker, id, "Again.")
    assert.ok(runs.some(({ metadata }) => metadata.due <= stopped))
    assert.deepEqual(
      runs.filter(({ metadata }) => metadata.due > stopped && metadata.due < back),
      [],
    )
  },
)

test("a schedule whose last run is not over is skipped, and says so", real, async () => {
  await using llm = await fakeLlm([call("bash", { command: "sh run.sh" }), text("Done.")])
  await using fleet = await startFleet(2, llm)
  fleet.tmp.write("run.sh", "touch started; while [ ! -e go ]; do sleep 0.1; done\n")
  const [worker] = fleet.workers as [(typeof fleet.workers)[0]]
  const id = await addSchedule(fleet, "Take long.", "--allow", "bash.execute")
  await setTimes(fleet, id)
  await until(() => existsSync(join(fleet.tmp.path, "started")), "the call")
  await until(async () => (await infoOf(worker, id)).skipped, "the mark")
  const { last, skipped } = await infoOf(worker, id)
  assert.equal(last.result, "running")
  assert.ok(skipped > last.time)
  assert.match((await schedule(fleet, "list")).out, /\n {4}skipped .*: the run before was not over$/)
  await setTimes(fleet, id, never)
  // A tick that comes after the end of the run would begin another one.
  const open =
    "select 1 from vitamin_jobs.workflow_status where name = 'schedule' and status in ('ENQUEUED', 'PENDING')"
  await until(async () => !(await fleet.database.query(open)).length, "earlier ticks")
  assert.equal((await runsOf(worker, id)).length, 1)
  fleet.tmp.write("go", "")
  await until(async () => (await infoOf(worker, id)).last.result === "done", "the end")
})
