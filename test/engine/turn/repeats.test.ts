// Distinguishes polling from a loop.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Made } from "#engine/run/run.ts"
import { addCall, type Repeat } from "#engine/turn/repeats.ts"

type Given = { said: string; duration?: number; pause?: number; hasFailed?: boolean }

/** The result of addCall() for the last of these calls. */
function last(given: Given[]): Repeat {
  const calls: Made[] = []
  let now = 0
  const verdicts = given.map(({ said, duration = 5, pause = 100, hasFailed = false }) => {
    now += pause + duration
    return addCall(calls, { said, duration, hasFailed, now })
  })
  return verdicts.at(-1)!
}
const times = (count: number, call: Given) => Array.from({ length: count }, () => call)

test("addCall() stops quick calls with the same result at the third", () => {
  assert.equal(last([{ said: "a" }]).nudge, false)
  assert.deepEqual([last(times(2, { said: "a" })).nudge, last(times(2, { said: "a" })).stop], [true, false])
  assert.equal(last(times(3, { said: "a" })).stop, true)
})

test("addCall() allows slow calls, or calls with long pauses, up to the thirtieth", () => {
  for (const call of [
    { said: "pending", duration: 2_000 },
    { said: "pending", pause: 15_000 },
  ]) {
    assert.equal(last(times(29, call)).stop, false)
    assert.equal(last(times(30, call)).stop, true)
  }
})

test("addCall() takes quick calls with pauses between them for polling", () => {
  const round = [{ said: "slept", duration: 10_000 }, { said: "pending" }]
  const rounds = (count: number) => Array.from({ length: count }, () => round).flat()
  assert.equal(last(rounds(29)).stop, false)
  assert.equal(last(rounds(30)).stop, true)
})

test("addCall() restarts its count after a wait", () => {
  const slow = { said: "a", duration: 2_000 }
  assert.equal(last([...times(2, { said: "a" }), slow]).stop, false)
  assert.equal(last([slow, ...times(2, { said: "a" })]).stop, false)
  assert.equal(last([slow, ...times(3, { said: "a" })]).stop, true)
})

test("addCall() does not count failed calls, or commands of less than two seconds, as polling", () => {
  for (const call of [
    { said: "a", duration: 300 },
    { said: "a", duration: 1_900 },
    { said: "a", duration: 5_000, hasFailed: true },
    { said: "a", pause: 15_000, hasFailed: true },
  ]) {
    assert.equal(last(times(2, call)).nudge, true)
    assert.equal(last(times(3, call)).stop, true)
  }
})

test("addCall() stops quick calls even if there is a slow call between them", () => {
  const slow = { said: "built", duration: 3_000 }
  const [read, edit] = [{ said: "read" }, { said: "edit", hasFailed: true }]
  for (const round of [
    [slow, read],
    [slow, read, edit],
    [read, slow, edit],
  ]) {
    const rounds = (count: number) => Array.from({ length: count }, () => round).flat()
    assert.equal(last(rounds(2)).stop, false)
    assert.equal(last(rounds(3)).stop, true)
  }
})
