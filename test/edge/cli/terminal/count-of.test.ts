// A number with its noun.
import assert from "node:assert/strict"
import { test } from "node:test"
import { countOf } from "#edge/cli/terminal/count-of.ts"

test("countOf() returns singular and plural", () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => countOf(number, "tool")),
    ["0 tools", "1 tool", "2 tools"],
  )
})
