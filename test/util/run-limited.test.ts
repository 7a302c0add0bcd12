import assert from "node:assert/strict"
import { AsyncLocalStorage } from "node:async_hooks"
import { test } from "node:test"
import { runLimited } from "#util/run-limited.ts"

const long = 60_000

test("runLimited() returns what the work returns, in the context of its caller", () => {
  const context = new AsyncLocalStorage<number>()
  assert.deepEqual(
    context.run(7, () => runLimited(() => context.getStore(), long)),
    { result: 7 },
  )
  assert.deepEqual(
    runLimited(() => undefined, long),
    { result: undefined },
  )
})

test("runLimited() throws what the work throws", () => {
  const error = new Error("own")
  assert.throws(
    () =>
      runLimited(() => {
        throw error
      }, long),
    (thrown) => thrown === error,
  )
  const deep = (): number => deep() + 1
  assert.throws(() => runLimited(deep, long), RangeError)
})

const endless: Record<string, () => unknown> = {
  "a loop": () => {
    for (;;);
  },
  "a loop that catches everything": () => {
    for (;;)
      try {
        JSON.parse("{")
      } catch {}
  },
  "a regular expression": () => /^(a+)+$/.test(`${"a".repeat(60)}b`),
  "a sort": () => Array.from({ length: 10 }, () => 1).sort(() => Number(endless["a loop"]!())),
}
for (const [what, work] of Object.entries(endless))
  test(`runLimited() ends ${what}, and what follows runs`, async () => {
    assert.equal(runLimited(work, 20), undefined)
    assert.deepEqual(
      runLimited(() => 1, long),
      { result: 1 },
    )
    await new Promise((resolve) => setTimeout(resolve, 1))
  })

test("runLimited() can be called inside of itself", () => {
  assert.deepEqual(
    runLimited(() => runLimited(() => 1, long), long),
    { result: { result: 1 } },
  )
})
