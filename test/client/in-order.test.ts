import assert from "node:assert/strict"
import { test } from "node:test"
import { createInOrder } from "#client/in-order.ts"

type Step = [shown: string, parentId: string | null, id?: string, isFirst?: boolean]
const steps: Step[] = [
  ["old result", "gone", "old"],
  ["user", "older", "u", true],
  ["text", "u"],
  ["more text", "u"],
  ["answer", "u", "a"],
  ["request", "a", "q"],
  ["result 1", "q", "r1"],
  ["result 2", "r1", "r2"],
  ["last text", "r2"],
  ["last answer", "r2", "z"],
]

function show(order: number[]) {
  const shown: string[] = []
  const inOrder = createInOrder()
  for (const at of order) {
    const [text, parentId, id, isFirst = false] = steps[at]!
    inOrder.add({ parentId, isFirst, show: () => shown.push(text), ...(id ? { id } : {}) })
  }
  const before = shown.length
  inOrder.flush()
  return { shown, early: before }
}

for (const order of [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [0, 1, 2, 3, 8, 5, 4, 7, 6, 9],
  [0, 1, 8, 7, 6, 5, 9, 2, 3, 4],
])
  test(`items that arrive in the order ${order} are shown in the order of their messages`, () => {
    const { shown, early } = show(order)
    assert.deepEqual(
      shown,
      steps.map(([text]) => text),
    )
    assert.equal(early, steps.length)
  })

test("items that wait for a missing message are shown at the end", () => {
  assert.deepEqual(show([1, 2, 6, 8]), { shown: ["user", "text", "result 1", "last text"], early: 2 })
})

test("createInOrder() continues after an item that throws", () => {
  const shown: string[] = []
  const inOrder = createInOrder()
  const fail = () => {
    throw new Error("it cannot be drawn")
  }
  assert.throws(() => inOrder.add({ id: "u", parentId: null, isFirst: true, show: fail }), /drawn/)
  inOrder.add({ id: "a", parentId: "u", show: () => shown.push("answer") })
  assert.deepEqual(shown, ["answer"])
  inOrder.add({ id: "c", parentId: "b", show: () => shown.push("what waited") })
  assert.throws(() => inOrder.add({ id: "b", parentId: "a", show: fail }), /drawn/)
  assert.deepEqual(shown, ["answer", "what waited"])
  inOrder.add({ parentId: "never", show: fail })
  inOrder.add({ parentId: "never", show: () => shown.push("the rest") })
  assert.throws(() => inOrder.flush(), /drawn/)
  assert.deepEqual(shown, ["answer", "what waited", "the rest"])
})
