// A worker that is stopped hands its turns over; a prompt that ends one worker after another is not tried for ever.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import pg from "pg"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { bash, newSession, startFleet, story, type Worker } from "./harness.ts"
import { holdPrompts } from "./held-prompts.ts"

test("SIGTERM hands the turn of a worker over to another one, and tells the client so", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([call("bash", { command: "sh run.sh" }), text("Finished elsewhere.")])
  await using fleet = await startFleet(1, llm)
  fleet.tmp.write("run.sh", "touch started; sleep 60\n")
  const holder = fleet.workers[0]!
  const id = await newSession(holder)
  const asked = holder.call("POST", `/session/${id}/message`, { ...bash, text: "Run it." })
  await until(() => existsSync(join(fleet.tmp.path, "started")), "the call")
  const other = await fleet.start()
  holder.signal("SIGTERM")
  const { status, body } = await asked
  assert.equal(status, 409, JSON.stringify(body))
  assert.equal(body.error.name, "Worker.Interrupted")
  await until(async () => (await story(other, id)).at(-1) === "assistant: Finished elsewhere.", "the answer")
  assert.equal(await holder.child.exit, 143)
  const told = (await story(other, id)).filter((line) => !line.startsWith("system"))
  assert.deepEqual(told.slice(0, 3), ["user: Run it.", "call bash", "result interrupted"])
})

test("a prompt that three workers did not survive is not tried again", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm(() => call("bash", { command: "sh run.sh" }))
  await using fleet = await startFleet(4, llm)
  fleet.tmp.write("run.sh", "sleep 60\n")
  const first = fleet.workers[0]!
  const id = await newSession(first)
  await first.call(
    "POST",
    `/session/${id}/message`,
    { ...bash, text: "Run it." },
    { prefer: "respond-async" },
  )
  const killed = new Set<unknown>()
  for (let round = 1; round <= 3; round++) {
    await until(() => llm.requests.length === round, `attempt ${round}`)
    const holder = await fleet.holder(id)
    killed.add(holder)
    holder.signal("SIGKILL")
    await holder.child.exit
  }
  const last = fleet.workers.find((one) => !killed.has(one))!
  await until(async () => (await last.call("GET", `/session/${id}`)).body.status === "error", "the end")
  assert.equal((await last.call("GET", `/session/${id}`)).body.error.name, "Prompt.LostWorkersLimit")
  assert.equal(llm.requests.length, 3)
  // A paused worker in the place of the last one could not go on: its lease is gone.
  const leases = () => fleet.database.query("select from vitamin.lease where session = $1", [id])
  await until(async () => (await leases()).length === 0, "no lease")
})

test("a client learns that its prompt was given up if the message about it is lost", {
  skip: noPostgres,
}, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(1, held.llm)
  const worker = fleet.workers[0]!
  const id = await newSession(worker)
  const answer = worker.call("POST", `/session/${id}/message`, { text: "owner p 1" })
  await until(() => held.running.length === 1, "the prompt")
  // As a worker leaves it that dies right after it gave the job up.
  await fleet.database.query("update vitamin_jobs.workflow_status set status = 'CANCELLED'")
  assert.match(JSON.stringify((await answer).body), /Prompt\.LostWorkersLimit/)
})

test("a client whose prompt is just being stored when its server is stopped is told that it goes on", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([text("Answered later.")])
  await using fleet = await startFleet(1, llm)
  const [first] = fleet.workers
  const id = await newSession(first!)
  const client = new pg.Client({ connectionString: fleet.database.url })
  await client.connect()
  // Nobody can add a job until the lock is gone.
  await client.query("begin; lock table vitamin_jobs.workflow_status in share row exclusive mode")
  const asked = first!.call("POST", `/session/${id}/message`, { text: "Answer it." })
  const waiting = `select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted
    and l.relation = 'vitamin_jobs.workflow_status'::regclass and a.application_name = $1`
  const name = `vitamin ${first!.child.process.pid}`
  try {
    await until(async () => (await fleet.database.query(waiting, [name])).length, "the job that waits")
    first!.signal("SIGTERM")
    await until(async () => !(await isListening(first!)), "the end of the server")
  } finally {
    await client.end()
  }
  const { status, body } = await asked
  assert.equal(status, 409, JSON.stringify(body))
  assert.equal(body.error.name, "Worker.Interrupted")
  const other = await fleet.start()
  await until(async () => (await story(other, id)).at(-1) === "assistant: Answered later.", "the answer")
})

async function isListening({ url }: Worker): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}
