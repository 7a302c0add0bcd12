// A schedule that changes between its time and its run.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { startFleet } from "./harness.ts"
import { addSchedule, never, runsOf, setTimes, untilIdle } from "./schedule-harness.ts"

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
