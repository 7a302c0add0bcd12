// Prompts that come to a server at the same moment are added in one transaction.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { type Fleet, newSession, startFleet } from "./harness.ts"

const words = ["one", "two", "three", "four", "five", "six"]

/** Sends prompts to sessions of their own while no job can be added, so that all but the first wait together. */
async function promptAtOnce({ workers, database }: Fleet) {
  const worker = workers[0]!
  const ids = await Promise.all(words.map(() => newSession(worker)))
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query("begin; lock table vitamin_jobs.workflow_status in share row exclusive mode")
    const send = (id: string, n: number) =>
      worker.call("POST", `/session/${id}/message`, { text: `Say ${words[n]}.` }, { prefer: "respond-async" })
    const first = send(ids[0]!, 0)
    const waiting = `select 1 from pg_locks where not granted and relation = 'vitamin_jobs.workflow_status'::regclass`
    await until(async () => (await database.query(waiting)).length, "the first job waits")
    const rest = ids.slice(1).map((id, n) => send(id, n + 1))
    // A later request of the same server is answered after the others were read.
    for (let n = 0; n < 20; n++) await worker.call("GET", `/session/${ids[0]}`)
    await client.query("rollback")
    return await Promise.all([first, ...rest])
  } finally {
    await client.end()
  }
}

test("a prompt that the database refuses takes no other one along", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(1, llm)
  await fleet.database.query(`create function refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'it is refused';
    end $$;
    create trigger refuse before insert on vitamin.record
      for each row when (new.parent like 'job/%' and new.body like '%Say three.%') execute function refuse()`)
  const answers = await promptAtOnce(fleet)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 500, 202, 202, 202],
    JSON.stringify(answers),
  )
})

test("of prompts that come at once as many wait as the limit allows", { skip: noPostgres }, async () => {
  const released = Promise.withResolvers<void>()
  await using llm = await fakeLlm(async () => {
    await released.promise
    return text("Done.")
  })
  await using fleet = await startFleet(1, llm)
  const limits = { "running.person": 1, "waiting.person": 2 }
  const insert = "insert into vitamin.record (parent, name, body) values ('limit', 'job', $1)"
  await fleet.database.query(insert, [JSON.stringify(limits)])
  const answers = await promptAtOnce(fleet)
  assert.deepEqual(
    answers.map(({ status }) => status).sort(),
    [202, 202, 202, 429, 429, 429],
    JSON.stringify(answers),
  )
  const stored = await fleet.database.query("select from vitamin_jobs.workflow_status")
  assert.equal(stored.length, 3)
  // The record of a prompt is removed when it begins.
  const prompts = "select from vitamin.record where parent like 'job/%'"
  await until(async () => (await fleet.database.query(prompts)).length === 2, "two prompts wait")
  released.resolve()
  const open = "select from vitamin_jobs.workflow_status where status in ('ENQUEUED', 'PENDING')"
  await until(async () => (await fleet.database.query(open)).length === 0, "the end of all jobs")
})
