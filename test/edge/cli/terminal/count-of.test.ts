// A number with its noun.
import assert from "node:assert/strict"
import { test } from "node:test"
import { countOf } from "#edge/cli/terminal/count-of.ts"

test("countOf speaks of one thing, and of many", () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => countOf(number, "tool")),
    ["0 tools", "1 tool", "2 tools"],
  )
})
