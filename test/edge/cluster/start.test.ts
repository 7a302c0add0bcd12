// Workers that start together on an empty database.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { newSession, startFleet, story } from "./harness.ts"

test("workers that start at the same moment on an empty database all serve", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([text("Hello.")])
  await using fleet = await startFleet(0, llm)
  await Promise.all(Array.from({ length: 4 }, () => fleet.start()))
  const [first, ...others] = fleet.workers
  const id = await newSession(first!)
  assert.equal((await first!.call("POST", `/session/${id}/message`, { text: "Hi." })).status, 200)
  for (const one of others) assert.deepEqual(await story(one, id), ["user: Hi.", "assistant: Hello."])
})
