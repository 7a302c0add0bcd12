// A schedule that changes between its time and its run, and a run that is started twice.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { startFleet } from "./harness.ts"
import { addSchedule, infoOf, never, runsOf, setTimes, untilIdle } from "./schedule-harness.ts"

const changes = {
  paused:
    "update vitamin_jobs.workflow_schedules set status = 'PAUSED' where schedule_name = new.schedule_name",
  removed: "delete from vitamin_jobs.workflow_schedules where schedule_name = new.schedule_name",
}

for (const [what, change] of Object.entries(changes))
  test(`a schedule that is ${what} when its time has just come does not run`, {
    skip: noPostgres,
    timeout: 180_000,
  }, async () => {
    await using llm = await fakeLlm(() => text("Done."))
    await using fleet = await startFleet(1, llm)
    const [worker] = fleet.workers
    const id = await addSchedule(fleet, "Do it.")
    await fleet.database.query(`create function change() returns trigger language plpgsql as $$
      begin ${change}; return new; end $$;
      create trigger change before insert on vitamin_jobs.workflow_status
        for each row when (new.name = 'schedule') execute function change()`)
    await setTimes(fleet, id)
    const ticks = () =>
      fleet.database.query<{ status: string }>(
        "select distinct status from vitamin_jobs.workflow_status where name = 'schedule'",
      )
    await until(async () => (await ticks()).length > 0, "the first tick")
    await fleet.database.query("update vitamin_jobs.workflow_schedules set schedule = $1", [never])
    await untilIdle(fleet)
    assert.deepEqual(await ticks(), [{ status: "SUCCESS" }])
    assert.deepEqual(await runsOf(worker!, id), [])
    assert.equal(llm.requests.length, 0)
  })

test("a run that is started again while its prompt is at work leaves the prompt alone", {
  skip: noPostgres,
  timeout: 180_000,
}, async () => {
  const released = Promise.withResolvers<void>()
  await using llm = await fakeLlm(async () => {
    await released.promise
    return text("Done.")
  })
  await using fleet = await startFleet(1, llm)
  const [worker] = fleet.workers
  const { query } = fleet.database
  const id = await addSchedule(fleet, "Do it.")
  await setTimes(fleet, id)
  await until(() => llm.requests.length === 1, "the prompt")
  await setTimes(fleet, id, never)
  const open = "select from vitamin_jobs.workflow_status where name = 'schedule' and status <> 'SUCCESS'"
  await until(async () => (await query(open)).length === 0, "the end of the ticks")
  // As after the death of a worker that has stored the prompt, and not yet the end of the tick.
  const again = `update vitamin_jobs.workflow_status set status = 'ENQUEUED', completed_at = null
    where workflow_uuid = (select body::json->'last'->>'id' from vitamin.record where parent = 'schedule' and name = $1)
    returning 1`
  assert.equal((await query(again, [id])).length, 1)
  await until(async () => (await query(open)).length === 0, "the end of the second start")
  assert.deepEqual(await query("select from vitamin.record where parent like 'job/%'"), [])
  released.resolve()
  await until(async () => (await infoOf(worker!, id)).last.result !== "running", "the end of the run")
  assert.equal((await infoOf(worker!, id)).last.result, "done")
  assert.equal((await runsOf(worker!, id)).length, 1)
  assert.equal(llm.requests.length, 1)
})
