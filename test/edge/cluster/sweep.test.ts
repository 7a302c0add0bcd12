// Finished jobs do not stay in the database for ever.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { type Fleet, newSession, startFleet } from "./harness.ts"

const hour = 60 * 60_000

/** The ids in a table of jobs. */
async function ids(fleet: Fleet, table: string, column = "workflow_uuid"): Promise<string[]> {
  const rows = await fleet.database.query<{ id: string }>(`select ${column} as id from ${table} order by 1`)
  return rows.map(({ id }) => id)
}

test("jobs that ended an hour ago are removed, with their attempts and lost messages", {
  skip: noPostgres,
}, async () => {
  let isOpen = false
  await using llm = await fakeLlm(async ({ messages }) => {
    if (JSON.stringify(messages).includes("Wait.")) await until(() => isOpen, "the release")
    return text("Done.")
  })
  await using fleet = await startFleet(1, llm)
  const [worker] = fleet.workers
  const prompt = async (words: string, headers = {}) => {
    const id = await newSession(worker!)
    const { status, body } = await worker!.call("POST", `/session/${id}/message`, { text: words }, headers)
    assert.ok(status === 200 || status === 202, JSON.stringify(body))
    const [row] = await fleet.database.query<{ job: string }>(
      "select workflow_uuid as job from vitamin_jobs.workflow_status where queue_partition_key = $1",
      [id],
    )
    return { id, job: row!.job }
  }
  const old = await prompt("Old.")
  const recent = await prompt("Recent.")
  const running = await prompt("Wait.", { prefer: "respond-async" })
  await until(() => llm.requests.length === 3, "the request that waits")
  const age = `update vitamin_jobs.workflow_status set created_at = created_at - $2::bigint,
    completed_at = completed_at - $2::bigint where workflow_uuid = any($1)`
  await fleet.database.query(age, [[old.job, running.job], hour + 1_000])
  await fleet.database.query("insert into vitamin.attempt values ($1, 1), ($2, 1)", [old.job, recent.job])
  await fleet.database.query("insert into vitamin.mail (worker, body) values ('nobody', '{}')")

  await fleet.start()
  const kept = [recent.job, running.job].sort()
  await until(async () => (await ids(fleet, "vitamin_jobs.workflow_status")).length === 2, "the removal")
  assert.deepEqual(await ids(fleet, "vitamin_jobs.workflow_status"), kept)
  assert.deepEqual(await ids(fleet, "vitamin_jobs.workflow_input"), kept)
  assert.deepEqual(await ids(fleet, "vitamin_jobs.workflow_output"), [recent.job])
  await until(async () => !(await ids(fleet, "vitamin.mail", "worker")).includes("nobody"), "the message")
  assert.deepEqual(await ids(fleet, "vitamin.attempt", "job"), [recent.job])
  isOpen = true
  await until(
    async () => (await worker!.call("GET", `/session/${running.id}`)).body.status === "idle",
    "the end of the running one",
  )
})
