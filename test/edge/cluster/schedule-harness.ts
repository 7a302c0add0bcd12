// Schedules of a fleet in short time: the engine takes a field for seconds, which the product refuses.
import assert from "node:assert/strict"
import { readEvery } from "#edge/cluster/schedule-rows.ts"
import { vitamin } from "../../fixture/cli.ts"
import { until } from "../../fixture/until.ts"
import { type Fleet, story, type Worker } from "./harness.ts"

type Json = ReturnType<typeof JSON.parse>

/** `vitamin schedule …` on the database of the fleet. */
export function schedule(fleet: Pick<Fleet, "tmp" | "database">, ...args: string[]) {
  return vitamin(fleet.tmp, ["schedule", ...args], { VITAMIN_DATABASE: fleet.database.url })
}

/** A new schedule that does not fire by itself during a test; its id. */
export async function addSchedule(fleet: Fleet, prompt: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await schedule(fleet, "add", "0 0 29 2 *", prompt, ...args)
  assert.equal(code, 0, err)
  assert.match(out, /^sch_\w+$/)
  return out
}

/** Lets it fire each second, or at the times of another expression of the engine. */
export async function setTimes({ database }: Fleet, id: string, cron = "* * * * * *"): Promise<void> {
  const text = "update vitamin_jobs.workflow_schedules set schedule = $1 where schedule_name = $2 returning 1"
  assert.equal((await database.query(text, [cron, id])).length, 1)
}

export const never = "0 0 0 29 2 1"

/** The sessions of its runs, the oldest first. */
export async function runsOf(worker: Worker, id: string): Promise<Json[]> {
  const { body } = await worker.call("GET", "/session?everywhere=true")
  const own = body.filter(({ metadata }: Json) => metadata.scheduleId === id)
  return own.sort((a: Json, b: Json) => a.metadata.due - b.metadata.due)
}

export async function untilRuns(worker: Worker, id: string, count: number): Promise<void> {
  await until(async () => (await runsOf(worker, id)).length >= count, `run ${count} of ${id}`)
}

/** Resolves when no tick and no prompt waits or runs. A worker fires for a while at times that were changed: until it reads
 * the schedules again. */
export async function untilIdle({ database }: Fleet): Promise<void> {
  const text = `select 1 from vitamin_jobs.workflow_status where status in ('ENQUEUED', 'PENDING')
    or (name = 'schedule' and created_at > extract(epoch from now()) * 1000 - $1)`
  const isIdle = async () => (await database.query(text, [2 * readEvery + 1_000])).length === 0
  await until(isIdle, "the end of all jobs")
}

/** Each run has a time of its own, one prompt, and one answer, also if another worker finished it. */
export async function checkRuns(worker: Worker, id: string, prompt: string): Promise<Json[]> {
  const runs = await runsOf(worker, id)
  const times = runs.map(({ metadata }) => metadata.due)
  assert.deepEqual(times, [...new Set(times)])
  for (const run of runs) {
    const told = (await story(worker, run.id)).filter((line) => !line.startsWith("system"))
    assert.deepEqual(told, [`user: ${prompt}`, "assistant: Done."], JSON.stringify(run))
  }
  return runs
}

/** The schedule as `GET /schedule` shows it. */
export async function infoOf(worker: Worker, id: string): Promise<Json> {
  return (await worker.call("GET", "/schedule")).body.find((one: Json) => one.id === id)
}
