import assert from "node:assert/strict"
import { test } from "node:test"
import { orAborted } from "#util/wait.ts"

test("orAborted() returns the result of the work, or throws its error", async () => {
  const { signal } = new AbortController()
  assert.equal(await orAborted(Promise.resolve(1), signal), 1)
  await assert.rejects(orAborted(Promise.reject(new Error("bad")), signal), /bad/)
})

test("orAborted() stops waiting on abort, and drops a later error", async () => {
  const { promise, reject } = Promise.withResolvers<never>()
  const controller = new AbortController()
  const waiting = orAborted(promise, controller.signal)
  controller.abort(new Error("enough"))
  await assert.rejects(waiting, /enough/)
  await assert.rejects(orAborted(promise, controller.signal), /enough/)
  const unheard: unknown[] = []
  const hear = (error: unknown) => void unheard.push(error)
  process.on("unhandledRejection", hear)
  reject(new Error("late"))
  await new Promise((resolve) => setImmediate(resolve))
  process.off("unhandledRejection", hear)
  assert.deepEqual(unheard, [])
})
