import assert from "node:assert/strict"
import { test } from "node:test"
import { createEventBatch } from "#edge/server/event/event-batch.ts"

test("EventBatch.take() returns buffers outside of Node's pool", () => {
  const batch = createEventBatch()
  batch.add({ id: 1, time: 1, directory: "/a", type: "session.idle", payload: { text: "é" } })
  batch.add({ time: 2, directory: "/a", type: "message.delta", payload: { text: "live only" } })
  const taken = batch.take()!
  for (const bytes of [taken.live, taken.kept!.bytes]) assert.equal(bytes.buffer.byteLength, bytes.length)
  assert.match(taken.live.toString(), /é.*live only/s)
})
