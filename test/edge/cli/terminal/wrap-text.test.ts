import assert from "node:assert/strict"
import { test } from "node:test"
import { createWrapper } from "#edge/cli/terminal/wrap-text.ts"

function wrapped(text: string, columns: number | undefined, size = text.length): string {
  const wrapper = createWrapper(() => columns)
  let out = ""
  for (let at = 0; at < text.length; at += size) out += wrapper.add(text.slice(at, at + size))
  return out + wrapper.end()
}

test("createWrapper() breaks lines between words, and indents lines after a list mark", () => {
  assert.equal(wrapped("one two three four five six", 20), "one two three four\nfive six")
  assert.equal(wrapped("• one two three four five", 20), "• one two three four\n  five")
  assert.equal(wrapped("  [ ] one two three four", 20), "  [ ] one two three\n      four")
  assert.equal(wrapped("世界世界 世界世界 世界世界", 20), "世界世界 世界世界\n世界世界")
})

test("createWrapper() gives the same result for any split of the text", () => {
  const text = "# A title\n\nSome bold words here, and a few more of them.\n- an item that is longer\n"
  const whole = wrapped(text, 24)
  for (const size of [1, 2, 3, 7]) assert.equal(wrapped(text, 24, size), whole)
  for (const line of whole.split("\n")) assert.ok(line.length <= 24, line)
  const styled = "Some \u001b[1mbold words\u001b[22m here, and more"
  assert.equal(wrapped(styled, 22), "Some \u001b[1mbold words\u001b[22m here,\nand more")
})

test("createWrapper() leaves code, tables, long words and blanks as they are", () => {
  const code = "```ts\nconst port = 4000 // longer than that\n```\n| a table | of some width |\n"
  assert.equal(wrapped(code, 20), code)
  assert.equal(wrapped(`a ${"x".repeat(50)} b`, 20), `a ${"x".repeat(50)} b`)
  assert.equal(wrapped("two  blanks \n\n  in", 20), "two  blanks \n\n  in")
  for (const columns of [undefined, 0, 10])
    assert.equal(wrapped("one two three four", columns), "one two three four")
})
