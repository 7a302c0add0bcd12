import assert from "node:assert/strict"
import { test } from "node:test"
import { createPanels } from "#edge/tui/question/panel.ts"

const panel = { view: () => ({ lines: [], caret: { row: 0, column: 0 } }), handle: () => true }

test("a question that a list has covered ignores keys for a moment after the list is closed", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 100_000 })
  let typedAt = 0
  const panels = createPanels(
    () => {},
    () => typedAt,
  )
  let isQuiet = () => false
  void panels.open((_, quiet) => {
    isQuiet = quiet
    return { ...panel }
  })
  assert.equal(isQuiet(), false)
  let closeList = () => {}
  const list = panels.open<never>((done) => {
    closeList = () => done(undefined)
    return { ...panel }
  })
  t.mock.timers.setTime(200_000)
  typedAt = 200_000
  closeList()
  await list
  assert.equal(isQuiet(), true)
  t.mock.timers.setTime(201_000)
  assert.equal(isQuiet(), false)
})
