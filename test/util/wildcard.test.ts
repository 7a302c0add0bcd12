import assert from "node:assert/strict"
import { test } from "node:test"
import { fitsPath, fitsText, readPath } from "#util/wildcard.ts"

test("fitsText() matches a star with anything, and other characters literally", () => {
  for (const [pattern, text, fits] of [
    ["*", "", true],
    ["*", "a\nb/c", true],
    ["a*", "a", true],
    ["a*b*c", "abc", true],
    ["a*b*c", "axxbyyc", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["a.c", "abc", false],
    ["a?", "ab", false],
    ["**", "x", true],
    ["a", "A", false],
  ] as const)
    assert.equal(fitsText(pattern, text), fits, `${pattern} ${text}`)
})

test("fitsPath() resolves relative paths and patterns from the same base", () => {
  for (const [pattern, path, fits] of [
    ["src/**", "src/a/b", true],
    ["src/**", "/base/src/a", true],
    ["/base/src/**", "src/a", true],
    ["src/**", "src", true],
    ["src/", "src/a/b", true],
    ["**", ".", true],
    ["**", "../x", false],
    ["../x/**", "/x/y", true],
    ["**/a/*/b", "c/a/d/a/e/b", true],
    ["**/a/*/b", "c/a/d/e/b", false],
    ["./src/*", "src//a", true],
  ] as const)
    assert.equal(fitsPath(pattern, readPath(path, "/base"), "/base"), fits, `${pattern} ${path}`)
})

test("fitsPath() needs no more time for many stars than for few", () => {
  const path = readPath(`/${"a/".repeat(2_000)}b`)
  assert.equal(fitsPath(`/${"**/a/".repeat(200)}c`, path), false)
  assert.equal(fitsText(`${"a*".repeat(500)}b`, "a".repeat(20_000)), false)
})
