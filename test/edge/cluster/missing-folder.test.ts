// A prompt whose folder is gone when its turn comes: it ends with an error instead of going from worker to worker.
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { follow } from "../server/harness.ts"
import { startFleet } from "./harness.ts"
import { holdPrompts, prompterOf } from "./held-prompts.ts"

test("prompts whose folder no worker can open are tried three times, and their session says why they ended", {
  skip: noPostgres,
  timeout: 240_000,
}, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(1, held.llm)
  const [worker] = fleet.workers
  const folder = join(fleet.tmp.path, "folder")
  mkdirSync(folder)
  const owner = await prompterOf(fleet, undefined, folder)
  const stream = follow(worker!)
  const { id } = await owner.prompt(worker!, "owner p 1")
  await until(() => stream.frames.length, "the events")
  await until(() => held.running.length === 1, "the first prompt")
  const path = `/session/${id}/message`
  const second = worker!.call("POST", path, { text: "owner p 2" }, owner.headers)
  const headers = { ...owner.headers, prefer: "respond-async" }
  const third = await worker!.call("POST", path, { text: "owner p 3" }, headers)
  assert.equal(third.status, 202)
  const waiting = async () =>
    (await worker!.call("GET", `/session/${id}/prompt`, undefined, owner.headers)).body
  await until(async () => (await waiting()).length === 2, "the other prompts")
  const prompts: { id: string }[] = await waiting()
  rmSync(folder, { recursive: true })
  held.release("owner p 1")
  const { status, body } = await second
  assert.equal(status, 400, JSON.stringify(body))
  assert.equal(body.error.name, "Instance.InvalidDirectory", JSON.stringify(body))
  const failed = () =>
    stream.frames.flatMap(({ event, data }) =>
      event === "session.error" ? [JSON.parse(data).payload.promptId] : [],
    )
  const ids = prompts.map((prompt) => prompt.id).sort()
  await until(() => failed().length === 2, "the errors of both prompts")
  stream.drop()
  assert.deepEqual(failed().sort(), ids)
  const attempts = await fleet.database.query("select tries from vitamin.attempt where job = any($1)", [ids])
  assert.deepEqual(attempts, [{ tries: 3 }, { tries: 3 }])
  assert.deepEqual(held.began, ["owner p 1"])
  const left = "select from vitamin.record where parent like 'job/%'"
  await until(async () => (await fleet.database.query(left)).length === 0, "no waiting prompt")
  const stored = await fleet.database.query<{ body: string }>(
    "select body from vitamin.record where parent like 'session/%' and name = $1",
    [id],
  )
  assert.equal(JSON.parse(stored[0]!.body).error.name, "Instance.InvalidDirectory")
})
