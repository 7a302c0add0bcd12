import assert from "node:assert/strict"
import { test } from "node:test"
import { code, fence, firstLine, head, middleCut, tail } from "#edge/acp/show/markdown.ts"

test("code() and fence() cannot be ended by their text", () => {
  assert.equal(code("a*b*"), "`a*b*`")
  assert.equal(code("a`b``c"), "```a`b``c```")
  assert.equal(code("`a`"), "`` `a` ``")
  assert.equal(code(" a "), "`  a  `")
  assert.equal(fence("one\ntwo\n"), "```\none\ntwo\n```")
  assert.equal(fence("````\n# x", "sh"), "`````sh\n````\n# x\n`````")
  assert.equal(fence("a\r\n\tb\u001b\n[2Jc\u0000"), "```\na\n\tb\\u001b\n[2Jc\\u0000\n```")
})

test("firstLine() is one line without control characters, and shows that there is more", () => {
  assert.equal(firstLine("  one line "), "one line")
  assert.equal(firstLine("one\ntwo"), "one…")
  assert.equal(firstLine("x".repeat(200)), `${"x".repeat(120)}…`)
  assert.equal(firstLine("a\u001b\u202eb"), "a\\u001b\\u202eb")
  assert.equal(firstLine(""), "")
})

test("cuts never split a character, and say how much is left out", () => {
  const smiles = "😀".repeat(10)
  for (let max = 0; max <= 20; max++) {
    assert.ok(head(smiles, max).isWellFormed() && head(smiles, max).length <= max)
    assert.ok(tail(smiles, max).isWellFormed() && tail(smiles, max).length <= max)
    assert.ok(middleCut(smiles, max).isWellFormed())
  }
  assert.equal(middleCut("short", 5), "short")
  assert.equal(middleCut("0123456789", 4), "01\n[… 6 characters are left out …]\n89")
})
