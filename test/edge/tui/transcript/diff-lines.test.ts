import assert from "node:assert/strict"
import { test } from "node:test"
import { diffWords } from "#client/diff-words.ts"
import { createPaint } from "#edge/tui/screen/style.ts"
import { diffLines } from "#edge/tui/transcript/diff-lines.ts"
import { plain } from "./conversation.ts"

const paint = createPaint({ depth: 24, scheme: "dark" })

/** Changed words in brackets. */
function show(before: string, after: string): [string, string] | undefined {
  const words = diffWords(before, after)
  const marked = (pieces: { text: string; isChanged: boolean }[]) =>
    pieces.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("")
  return words && [marked(words.before), marked(words.after)]
}

test("diffWords() marks the words that differ", () => {
  assert.deepEqual(show("const a = 1", "const b = 1"), ["const [a] = 1", "const [b] = 1"])
  assert.deepEqual(show("f(a)", "f(a, b)"), ["f(a)", "f(a[, b])"])
  assert.deepEqual(show("one two three four", "one 2 3 four"), ["one [two three] four", "one [2 3] four"])
  assert.deepEqual(show("日本 語", "日本 人"), ["日本 [語]", "日本 [人]"])
})

test("diffWords() marks nothing in lines with little in common, or with too many words", () => {
  assert.equal(show("return everything", "const a = 1"), undefined)
  assert.equal(show("", "x"), undefined)
  assert.equal(show("a ".repeat(1_000), "a ".repeat(1_000)), undefined)
})

test("diffLines() numbers the lines of each hunk and wraps long ones below their text", () => {
  const diff =
    "@@ -8,2 +8,3 @@\n a\n-b\n+c one two three four\n+d\n@@ -99,1 +100,1 @@\n-x\n+y\n\\ No newline at end of file\n"
  assert.deepEqual(diffLines(diff, { columns: 20, rows: 24, paint: plain }), [
    "  8   a",
    "  9 - b",
    "  9 + c one two",
    "      three four",
    " 10 + d",
    "    ⋮",
    " 99 - x",
    "100 + y",
    "    \\ No newline at…",
  ])
})

test("diffLines() marks the changed words of lines that replace each other", () => {
  assert.deepEqual(diffLines("-let a = 1\n+let b = 1\n+new", { columns: 40, rows: 24, paint }), [
    paint("removed", `1 - let ${paint("removedWord", "a")} = 1`),
    paint("added", `1 + let ${paint("addedWord", "b")} = 1`),
    paint("added", "2 + new"),
  ])
})

test("a change without hunks is numbered from 1", () => {
  assert.deepEqual(diffLines("- a\n+ b", { columns: 40, rows: 24, paint: plain }), ["1 -  a", "1 +  b"])
})
