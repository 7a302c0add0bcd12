// Schedules of several people: whose they are, what their runs may do, and what ends them.
import assert from "node:assert/strict"
import { existsSync, renameSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { type Fleet, startFleet, story, type Worker } from "./harness.ts"
import { infoOf, never, runsOf, schedule, setTimes, untilIdle, untilRuns } from "./schedule-harness.ts"

type Json = ReturnType<typeof JSON.parse>

const real = { skip: noPostgres, timeout: 180_000 }
const body = { cron: "0 7 * * 1", timezone: "Europe/Berlin", prompt: "Write it." }

/** Calls of a new person. */
async function person(worker: Worker, name: string, role: string) {
  const { body } = await worker.call("POST", "/token", { name, role })
  const headers = { authorization: `Bearer ${body.token}` }
  return (method: string, path: string, sent?: unknown) => worker.call(method, path, sent, headers)
}

async function audit(worker: Worker, name: string): Promise<string[]> {
  const { body } = await worker.call("GET", `/audit?person=${name}`)
  return body.map(({ action, result }: Json) => `${action} ${result}`)
}

/** Runs it once more, and waits for the end of all jobs. */
async function runAgain(fleet: Fleet, id: string): Promise<Json> {
  const worker = fleet.workers[0]!
  const before = (await infoOf(worker, id)).last?.time ?? 0
  await setTimes(fleet, id)
  await until(async () => ((await infoOf(worker, id)).last?.time ?? 0) > before, "another run")
  await setTimes(fleet, id, never)
  await untilIdle(fleet)
  return (await infoOf(worker, id)).last
}

test(
  "a member sees and removes only their own schedules, a reader adds none, an admin has all",
  real,
  async () => {
    await using llm = await fakeLlm([])
    await using fleet = await startFleet(1, llm)
    const [worker] = fleet.workers as [Worker]
    const ada = await person(worker, "ada", "member")
    const bob = await person(worker, "bob", "member")
    const rita = await person(worker, "rita", "reader")
    const admin = await person(worker, "root", "admin")
    const { status, body: made } = await ada("POST", "/schedule", body)
    assert.equal(status, 200, JSON.stringify(made))
    assert.deepEqual([made.person, made.directory], ["ada", fleet.tmp.path])
    assert.equal(new Date(made.next).getUTCDay(), 1)

    assert.equal((await rita("POST", "/schedule", body)).status, 403)
    assert.deepEqual((await rita("GET", "/schedule")).body, [])
    assert.deepEqual((await bob("GET", "/schedule")).body, [])
    assert.equal((await bob("PATCH", `/schedule/${made.id}`, { paused: true })).status, 404)
    assert.equal((await bob("DELETE", `/schedule/${made.id}`)).status, 404)
    assert.deepEqual((await ada("GET", "/schedule")).body, [made])
    assert.deepEqual((await admin("GET", "/schedule")).body, [made])
    const paused = await ada("PATCH", `/schedule/${made.id}`, { paused: true })
    assert.deepEqual([paused.status, paused.body.paused, paused.body.next], [200, true, undefined])
    assert.equal((await admin("DELETE", `/schedule/${made.id}`)).status, 200)
    assert.deepEqual((await ada("GET", "/schedule")).body, [])
    assert.equal((await ada("DELETE", `/schedule/${made.id}`)).status, 404)
    await until(async () => (await audit(worker, "root"))[0] === "removeSchedule 200", "the audit log")
  },
)

test("a run acts for its person and asks nobody, until the token is revoked", real, async () => {
  await using llm = await fakeLlm((_, turn) =>
    turn % 2 ? text("Done.") : call("write", { path: "a.txt", content: "written" }),
  )
  await using fleet = await startFleet(2, llm)
  const [worker] = fleet.workers as [Worker]
  const ada = await person(worker, "ada", "member")
  const bob = await person(worker, "bob", "member")
  const { id } = (await ada("POST", "/schedule", body)).body
  const last = await runAgain(fleet, id)
  assert.equal(last.result, "done", JSON.stringify(last))
  assert.deepEqual(await story(worker, last.sessionId), [
    "user: Write it.",
    "call write",
    "result error",
    "assistant: Done.",
  ])
  const { body: messages } = await ada("GET", `/session/${last.sessionId}/message`)
  const [asked] = messages.filter(({ type }: Json) => type === "tool_request")
  assert.equal(asked.data.calls[0].approval, "denied")
  assert.equal(existsSync(join(fleet.tmp.path, "a.txt")), false)
  assert.equal((await ada("GET", `/session/${last.sessionId}`)).body.person, "ada")
  assert.equal((await bob("GET", `/session/${last.sessionId}`)).status, 404)
  assert.ok((await audit(worker, "ada")).includes("schedule run ok"))

  assert.equal((await worker.call("DELETE", "/token/ada")).status, 200)
  const count = (await runsOf(worker, id)).length
  const refused = await runAgain(fleet, id)
  assert.equal(refused.result, "refused")
  assert.match(refused.error.message, /the token of ada was revoked or has expired/)
  assert.ok((await audit(worker, "ada")).includes("schedule run refused"))
  await person(worker, "ada", "reader")
  assert.match(
    (await runAgain(fleet, id)).error.message,
    /ada has the role reader, and needs the role member/,
  )
  assert.equal((await runsOf(worker, id)).length, count)
  assert.match((await schedule(fleet, "list")).out, /refused {2}The run was refused: ada has the role reader/)
})

test("a run works in a checkout of its project, and is refused without its folder", real, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(1, llm)
  const [worker] = fleet.workers as [Worker]
  const address = `file://${fleet.tmp.path}`
  const variables = { VITAMIN_DATABASE: fleet.database.url }
  const added = await vitamin(fleet.tmp, ["project", "add", address], variables)
  assert.equal(added.code, 0, added.err)
  const made = await schedule(fleet, "add", "* * * * *", "Look.", "--directory", address)
  assert.equal(made.code, 0, made.err)
  await setTimes(fleet, made.out)
  await untilRuns(worker, made.out, 1)
  await setTimes(fleet, made.out, never)
  await untilIdle(fleet)
  const [run] = await runsOf(worker, made.out)
  assert.equal(run.directory, `${address}#${run.id}`)
  assert.deepEqual(await story(worker, run.id), ["user: Look.", "assistant: Done."])

  fleet.tmp.write("sub/a.txt", "")
  const folder = join(fleet.tmp.path, "sub")
  const other = await schedule(fleet, "add", "* * * * *", "Look.", "--directory", "sub")
  assert.equal(other.code, 0, other.err)
  renameSync(folder, `${folder}-gone`)
  const { result, error, sessionId } = await runAgain(fleet, other.out)
  assert.deepEqual([result, sessionId], ["refused", undefined])
  assert.match(error.message, /the folder .*\/sub does not exist on the worker /)
})
