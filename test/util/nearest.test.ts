// The name that somebody most likely meant.
import assert from "node:assert/strict"
import { test } from "node:test"
import { nearest } from "#util/nearest.ts"

const known = ["glob", "grep", "ls", "permission", "providers", "model", "mcp"]

const cases: [string, string | undefined][] = [
  ["grp", "grep"],
  ["gerp", "grep"],
  ["GREP", "grep"],
  ["models", "model"],
  ["provider", "providers"],
  ["permisions", "permission"],
  ["l", "ls"],
  ["xy", undefined],
  ["", undefined],
  ["something else", undefined],
  ["x".repeat(10_000), undefined],
]

for (const [word, expected] of cases)
  test(`nearest() of ${JSON.stringify(word.slice(0, 20))} is ${expected ?? "nothing"}`, () => {
    assert.equal(nearest(word, known), expected)
  })

test("nearest() returns the candidate with the fewest edits, the first of equals, and undefined without candidates", () => {
  assert.equal(nearest("cat", ["bath", "cart", "cats"]), "cart")
  assert.equal(nearest("model", ["modal", "model"]), "model")
  assert.equal(nearest("modle", ["mode", "model"]), "model")
  assert.equal(nearest("model", []), undefined)
})
