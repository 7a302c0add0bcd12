// The beginning of a text within a number of tokens.
import assert from "node:assert/strict"
import { test } from "node:test"
import { cutToTokens, estimateTokens } from "#knowledge/memory/tokens.ts"

test("cutToTokens() keeps whole lines, and of a single long one what fits", () => {
  const text = Array.from({ length: 50 }, (_, i) => `line ${i} of a text`).join("\n")
  const short = cutToTokens(text, 100)
  assert.ok(text.startsWith(`${short}\n`) && short.length > 100)
  assert.ok(estimateTokens(short) <= 100)
  assert.equal(cutToTokens(text, 10_000), text)
  for (const letters of ["word ".repeat(1_000), "😀".repeat(1_000), "漢".repeat(1_000), "{".repeat(1_000)]) {
    const cut = cutToTokens(letters, 100)
    assert.ok(cut.length > 0 && estimateTokens(cut) <= 100 && cut.isWellFormed(), `${estimateTokens(cut)}`)
  }
})
