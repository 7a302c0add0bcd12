import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { test } from "node:test"
import { quoteWord } from "#util/quote-word.ts"

test("quoteWord() returns a word that a shell reads back unchanged", () => {
  for (const text of ["/home/ada/x-1.ts", "a b", "it's", "$(id)", "a\nb", "", "*"])
    assert.equal(execFileSync("sh", ["-c", `printf %s ${quoteWord(text)}`], { encoding: "utf8" }), text)
})

test("quoteWord() leaves plain paths as they are", () => {
  assert.equal(quoteWord("/home/ada/.local/share/x@1:2+3"), "/home/ada/.local/share/x@1:2+3")
})
