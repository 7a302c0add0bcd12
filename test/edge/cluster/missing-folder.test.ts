// A prompt whose folder is gone when its turn comes: it ends with an error instead of going from worker to worker.
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { startFleet } from "./harness.ts"
import { holdPrompts, prompterOf } from "./held-prompts.ts"

test("a prompt whose folder no worker can open is tried three times", {
  skip: noPostgres,
  timeout: 240_000,
}, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(1, held.llm)
  const [worker] = fleet.workers
  const folder = join(fleet.tmp.path, "folder")
  mkdirSync(folder)
  const owner = await prompterOf(fleet, undefined, folder)
  const { id } = await owner.prompt(worker!, "owner p 1")
  await until(() => held.running.length === 1, "the first prompt")
  const second = worker!.call("POST", `/session/${id}/message`, { text: "owner p 2" }, owner.headers)
  const waiting = async () =>
    (await worker!.call("GET", `/session/${id}/prompt`, undefined, owner.headers)).body
  await until(async () => (await waiting()).length === 1, "the second prompt")
  const [{ id: promptId }] = await waiting()
  rmSync(folder, { recursive: true })
  held.release("owner p 1")
  const { status, body } = await second
  assert.equal(status, 400, JSON.stringify(body))
  assert.equal(body.error.name, "Instance.InvalidDirectory", JSON.stringify(body))
  const attempts = await fleet.database.query("select tries from vitamin.attempt where job = $1", [promptId])
  assert.deepEqual(attempts, [{ tries: 3 }])
  assert.deepEqual(held.began, ["owner p 1"])
  assert.deepEqual(await fleet.database.query("select from vitamin.record where parent like 'job/%'"), [])
})
