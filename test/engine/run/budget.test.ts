// The upper bound that saves most requests an exact token count.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fixedOf, mostFixed } from "#engine/run/budget.ts"

test("mostFixed() is never below fixedOf(), whatever the characters", () => {
  for (const sign of ["a", "A", "7", "{", " ", "é", "プ", "🍎", "\ud800", "\n"]) {
    const system = sign.repeat(1_000)
    const tools = [{ type: "function" as const, name: "read", description: system, inputSchema: {} }]
    assert.ok(mostFixed(system, tools) >= fixedOf(system, tools), JSON.stringify(sign))
  }
})
