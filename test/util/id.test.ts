// Ids that sort by the time of their creation.
import assert from "node:assert/strict"
import { mock, test } from "node:test"
import { createId, followId } from "#util/id.ts"

test("createId() starts with its prefix and is a safe file name on any file system", () => {
  const [one, two] = [createId("sess"), createId("sess")]
  assert.notEqual(one, two)
  for (const id of [one, two]) assert.match(id, /^sess_[0-9a-z]{26}$/)
})

test("createId() returns 100 000 different ids that sort in the order of creation", () => {
  const ids = Array.from({ length: 100_000 }, () => createId("m"))
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual([...ids].sort(), ids)
})

test("createId() contains the time and, in each millisecond, new random characters", () => {
  const start = Date.now() + 1_000_000
  const clock = mock.method(Date, "now", () => start)
  const first = createId("t")
  clock.mock.mockImplementation(() => start + 1)
  const second = createId("t")
  clock.mock.restore()
  const digits = "0123456789abcdefghjkmnpqrstvwxyz"
  const timeOf = (id: string) => [...id.slice(2, 12)].reduce((sum, c) => sum * 32 + digits.indexOf(c), 0)
  assert.deepEqual([timeOf(first), timeOf(second)], [start, start + 1])
  assert.notEqual(first.slice(12, 24), second.slice(12, 24))
})

test("createId() keeps its order when the clock stands still or goes back", () => {
  let now = Date.now() + 2_000_000
  const clock = mock.method(Date, "now", () => now)
  const ids: string[] = []
  for (const step of [0, 0, 5, -60_000, -60_000, 0, 30_000, -1, 200_000]) {
    now += step
    for (let i = 0; i < 50; i++) ids.push(createId("t"))
  }
  clock.mock.restore()
  assert.deepEqual([...ids].sort(), ids)
  assert.equal(new Set(ids).size, ids.length)
})

test("followId() makes later ids sort after an id from a process whose clock is ahead", () => {
  const now = Date.now() + 3_000_000
  const clock = mock.method(Date, "now", () => now + 3_600_000)
  const foreign = createId("t")
  clock.mock.mockImplementation(() => now)
  const ids = [foreign.replace(/.$/, "z")]
  for (let i = 0; i < 100; i++) {
    followId(ids.at(-1)!)
    ids.push(createId("t"))
  }
  clock.mock.restore()
  assert.deepEqual([...ids].sort(), ids)
})

test("followId() ignores texts that are not our ids, and times beyond the maximum", () => {
  const before = createId("t")
  for (const odd of ["", "msg_none", "t_uuuuuuuuuuuuuuuuuuuuuuuuuu", `t_${"z".repeat(26)}`]) followId(odd)
  const after = createId("t")
  assert.equal(after.slice(0, 6), before.slice(0, 6))
  assert.ok(after > before)
})
