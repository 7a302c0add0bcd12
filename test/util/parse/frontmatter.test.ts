import assert from "node:assert/strict"
import { test } from "node:test"
import { parseFrontmatter } from "#util/parse/frontmatter.ts"

const parse = (text: string) => parseFrontmatter(Buffer.from(text), "f.md")

test("parseFrontmatter() returns the YAML, the text below it, and places in the file", () => {
  const found = parse("---\nname: a\ntools: [b]\n---\n\n# Title\n\n---\nmore\n\n")!
  assert.deepEqual(found.value, { name: "a", tools: ["b"] })
  assert.equal(found.body, "# Title\n\n---\nmore")
  assert.deepEqual(found.locate(["tools"]), { line: 3, column: 1 })
})

test("parseFrontmatter() accepts CRLF, a BOM, trailing blanks and empty front matter", () => {
  const found = parse("\ufeff---  \r\nname: a\r\n---\t\r\nx\r\ny\r\n")!
  assert.deepEqual([found.value, found.body], [{ name: "a" }, "x\ny"])
  assert.deepEqual(parse("---\n---\n")?.value, null)
})

test("parseFrontmatter() returns undefined if there is none", () => {
  for (const text of ["", "# Title\n---\na: 1\n---\n", " ---\na: 1\n---\n"])
    assert.equal(parse(text), undefined)
})

for (const kind of ["js", "javascript", " coffee", "json", "-"])
  test(`parseFrontmatter() refuses ---${kind}`, () => {
    assert.throws(() => parse(`---${kind}\nmodule.exports = { id: "x" }\n---\n`), {
      name: "YamlError",
      message: /^f\.md:1:4: front matter of the kind "[^"]+" is not read/,
    })
  })

test("parseFrontmatter() names the line of a mistake, and refuses front matter without an end", () => {
  assert.throws(() => parse("---\na: 1\nb: [\n---\nx"), { message: /^f\.md:\d:\d+: / })
  assert.throws(() => parse("---\na: 1\na: 2\n---\nx"), { message: /^f\.md:3:1: the key "a" is there twice/ })
  assert.throws(() => parse("---\na: 1\n"), { message: /not closed/ })
})
