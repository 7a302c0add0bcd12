import assert from "node:assert/strict"
import { test } from "node:test"
import { boundedJson } from "#edge/acp/show/bounded-json.ts"

test("boundedJson() returns small values unchanged", () => {
  for (const value of [null, 0, false, "", "text", [], {}, [1, [2]], { a: { b: ["c", null] }, "": 1 }])
    assert.deepEqual(boundedJson(value), value)
})

test("boundedJson() cuts long texts, lists, objects and depths, and marks each cut", () => {
  assert.match(boundedJson("x".repeat(5_000)) as string, /^x{4000}… \(1000 more characters\)$/)
  const list = boundedJson(Array.from({ length: 1_000 }, () => 1)) as unknown[]
  assert.deepEqual([list.length, list.at(-1)], [101, "… (900 more)"])
  const names = boundedJson(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`n${i}`, i]))) as object
  assert.deepEqual(Object.entries(names).at(-1), ["…", "200 more"])
  let deep: unknown = "end"
  for (let i = 0; i < 10_000; i++) deep = [deep]
  assert.ok(JSON.stringify(boundedJson(deep)).length < 100)
})

test("boundedJson() bounds the size of any value", () => {
  const wide = Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => "y".repeat(3_000)))
  const named = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${i}`.repeat(5_000), { i }]))
  for (const value of [wide, named, [named, wide], "\u0000".repeat(1_000_000)])
    assert.ok(JSON.stringify(boundedJson(value)).length < 60_000)
  assert.deepEqual(Object.keys(boundedJson(JSON.parse('{"__proto__": 1}')) as object), ["__proto__"])
})
