// The parameters of a tool as words for the index.
import assert from "node:assert/strict"
import { test } from "node:test"
import { describeParameters } from "#ability/mcp/registry/create-catalog.ts"

test("describeParameters() returns names and descriptions, nested ones too", () => {
  const properties = {
    city: { type: "string", description: "where it rains" },
    days: { type: "array", items: { type: "object", properties: { weekday: { type: "string" } } } },
  }
  assert.equal(describeParameters({ type: "object", properties }), "city where it rains\ndays\nweekday")
})

test("describeParameters() returns the allowed values of a parameter", () => {
  const properties = {
    event: { type: "string", enum: ["APPROVE", "COMMENT"], description: "what to do" },
    kinds: { type: "array", items: { enum: ["bug", 7] } },
    order: { anyOf: [{ const: "newest" }, { enum: ["oldest"] }] },
  }
  assert.equal(
    describeParameters({ properties }),
    "event what to do APPROVE COMMENT\nkinds bug\norder newest oldest",
  )
})

test("describeParameters() handles invalid and recursive schemas", () => {
  for (const schema of [null, "x", [], {}, { properties: [] }, { properties: { a: null, b: 1 } }])
    assert.equal(describeParameters(schema), "")
  const endless: Record<string, unknown> = { type: "object" }
  endless.properties = { again: endless }
  assert.equal(describeParameters(endless), "again\nagain\nagain\nagain")
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, { type: "string" }]))
  assert.equal(describeParameters({ properties: wide }).length, 4_000)
})
