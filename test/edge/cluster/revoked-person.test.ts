// A prompt that waits while the token of its person is revoked does not run.
import assert from "node:assert/strict"
import { test } from "node:test"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { startFleet } from "./harness.ts"
import { holdPrompts, prompterOf } from "./held-prompts.ts"

test("a waiting prompt of a person whose token is revoked is skipped", { skip: noPostgres }, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(1, held.llm)
  const [worker] = fleet.workers
  const ada = await prompterOf(fleet, "ada")
  const { id } = await ada.prompt(worker!, "ada p 1")
  await until(() => held.running.length === 1, "the first prompt")
  const headers = { ...ada.headers, prefer: "respond-async" }
  const second = await worker!.call("POST", `/session/${id}/message`, { text: "ada p 2" }, headers)
  assert.equal(second.status, 202)
  assert.equal((await worker!.call("DELETE", "/token/ada")).status, 200)
  held.release("ada p 1")
  const skipped = async () => (await worker!.call("GET", `/session/${id}`)).body.skipped
  await until(skipped, "the second prompt")
  const [{ text, reason }] = await skipped()
  assert.equal(text, "ada p 2")
  assert.match(reason, /^The prompt was refused: the token of ada was revoked/)
  assert.deepEqual(held.began, ["ada p 1"])
})
