// Arguments and shell lines of command files.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fillTemplate, splitArguments, textOf } from "#ability/command/fill-template.ts"

const filled = (template: string, given = "") => {
  const { segments, problems } = fillTemplate("x", template, given)
  return { text: textOf(segments, ({ line }) => `<${line}>`), problems }
}

test("splitArguments() splits at blanks and keeps quoted words together", () => {
  assert.deepEqual(splitArguments(`a "b c"  'd "e"' f\\ g h"i j"k "" it's "x\\"y"`), [
    ...["a", "b c", 'd "e"', "f g", "hi jk", "", "it's", 'x"y'],
  ])
  assert.deepEqual(splitArguments(""), [])
  assert.deepEqual(splitArguments('"open end'), ['"open', "end"])
})

test("fillTemplate() inserts $ARGUMENTS, $1 to $9 and $ARGUMENTS[n]", () => {
  assert.equal(
    filled("Fix $1 in $2: $ARGUMENTS ($ARGUMENTS[0])", '7 "a b"').text,
    'Fix 7 in a b: 7 "a b" (7)',
  )
  assert.equal(filled("\\$1 costs $10, $ARGUMENTSX", "7").text, "$1 costs $10, $ARGUMENTSX\n\n7")
})

test("fillTemplate() names missing arguments, and appends those that the text has no place for", () => {
  const { text, problems } = filled("Fix $1 in $3.", "7")
  assert.equal(text, "Fix 7 in .")
  assert.deepEqual(problems, ["/x uses argument 3, but got 1; what is missing is empty"])
  assert.equal(filled("Review the change.", "only src").text, "Review the change.\n\nonly src")
})

test("fillTemplate() never takes an argument for a shell line or a placeholder", () => {
  assert.equal(filled("Say $1. !`echo $1`", "'!`rm x` $2'").text, "Say !`rm x` $2. <echo !`rm x` $2>")
  assert.equal(filled("a`!`b` \\!`c` ![alt](x) a!`d`").text, "a`!`b` \\!`c` ![alt](x) a!`d`")
})

test("fillTemplate() bounds the shell lines and the text that arguments add", () => {
  const many = filled("!`a`\n".repeat(25))
  assert.equal(many.text.match(/<a>/g)?.length, 20)
  assert.match(many.problems.join(), /25 shell lines; only the first 20/)
  const large = filled("$ARGUMENTS ".repeat(1_000), "x".repeat(10_000))
  assert.ok(large.text.length < 210_000)
  assert.match(large.problems.join(), /is cut/)
})
