import assert from "node:assert/strict"
import { test } from "node:test"
import { extractMarkdownLinks, filePathOf, getExtension, isExternalLink } from "#util/parse/markdown-links.ts"

const paths = (text: string, options = {}) =>
  extractMarkdownLinks(text, options).map((link) => link.relativePath)

test("extractMarkdownLinks() returns the text, the path and the line of each link", () => {
  const text =
    "# Title\n\nSee [the guide](docs/guide.md) and [b](./b.md).\nThen\n[c `x`](../c.md)\r\n\r\n- [d](d/e.md)"
  assert.deepEqual(extractMarkdownLinks(text), [
    { displayText: "the guide", relativePath: "docs/guide.md", lineNumber: 3 },
    { displayText: "b", relativePath: "./b.md", lineNumber: 3 },
    { displayText: "c `x`", relativePath: "../c.md", lineNumber: 5 },
    { displayText: "d", relativePath: "d/e.md", lineNumber: 7 },
  ])
})

test("extractMarkdownLinks() ignores images, and finds a link around an image", () => {
  assert.deepEqual(paths("![a](a.png) [b](b.md) ![c [d](d.md)](e.png) !\n[f](f.md)"), ["b.md", "f.md"])
  assert.deepEqual(paths("[![alt](x.png)](y.md)"), ["y.md"])
  assert.deepEqual(paths("\\![a](a.md)"), ["a.md"])
})

test("extractMarkdownLinks() finds none in fences, inline code and comments", () => {
  const text = [
    "```md\n[a](a.md)\n```",
    "~~~~\n[b](b.md)\n~~~\n```\n[c](c.md)\n~~~~",
    "1. ```\n   [d](d.md)\n   ```",
    "`[e](e.md)` ``[f](f.md) ` [g](g.md)`` `not closed [h](h.md)",
    "x <!-- [i](i.md) --> [j](j.md)\n<!--\n\n[k](k.md)\n-->\n[l](l.md)",
    "Write `<!--` and [m](m.md) and `-->`.",
    "\\`[n](n.md)\\`",
    "```\n[never closed](o.md)",
  ].join("\n\n")
  assert.deepEqual(paths(text), ["h.md", "j.md", "l.md", "m.md", "n.md"])
})

test("extractMarkdownLinks() reads titles, angle brackets, parentheses, escapes and anchors", () => {
  const text = String.raw`[a](a.md "A title") [b](b.md 'x') [c](<with blank.md> (t)) [d](d(1).md) [e]( e.md ) [f](f\).md) [g](g.md#part) [h [i] j](h.md) \[k](k.md) [l\](l.md) [m](m.md no)`
  assert.deepEqual(paths(text), [
    "a.md",
    "b.md",
    "with blank.md",
    "d(1).md",
    "e.md",
    "f).md",
    "g.md#part",
    "h.md",
  ])
})

test("extractMarkdownLinks() finds no link inside a link, and none across paragraphs", () => {
  assert.deepEqual(paths("[a [b](b.md) c](c.md) [d](d.md)"), ["b.md", "d.md"])
  assert.deepEqual(paths("[a\n\nb](b.md)\n[two\nlines](c.md)"), ["c.md"])
  assert.deepEqual(extractMarkdownLinks("x\n[two\nlines](c.md)")[0], {
    displayText: "two lines",
    relativePath: "c.md",
    lineNumber: 2,
  })
})

test("extractMarkdownLinks() leaves out anchors, external links and empty paths", () => {
  const text =
    "[a](#part) [b](https://x.org/b.md) [c](mailto:a@b.c) [d](//h/d.md) []() [](e.md) [f]() [g](g.md)"
  assert.deepEqual(paths(text), ["g.md"])
  assert.deepEqual(paths(text, { includeExternal: true }), [
    "https://x.org/b.md",
    "mailto:a@b.c",
    "//h/d.md",
    "g.md",
  ])
})

test("extractMarkdownLinks() filters by pattern and by extension", () => {
  const text = "[a](ref/a.md) [b](b.ts#L1) [c](ref/c.json) [d](d)"
  assert.deepEqual(paths(text, { pathPattern: /^ref\//g }), ["ref/a.md", "ref/c.json"])
  assert.deepEqual(paths(text, { extensions: [".md", ".ts"] }), ["ref/a.md", "b.ts#L1"])
  assert.deepEqual(paths(text, { extensions: [] }).length, 4)
})

test("isExternalLink() is true for a scheme or a host only", () => {
  for (const path of ["http://a", "HTTPS://a", "mailto:a@b", "file:///etc/passwd", "//a/b", "javascript:x"])
    assert.equal(isExternalLink(path), true, path)
  for (const path of ["a.md", "./a", "../a", "/a/b.md", "c:\\a", "#x", "", "a/b:c.md"])
    assert.equal(isExternalLink(path), false, path)
})

test("getExtension() returns the extension of the file, without an anchor, also in folders with dots", () => {
  const pairs = {
    "a.md": ".md",
    "a.tar.gz": ".gz",
    "a.b/c": "",
    "a\\b.md": ".md",
    "a.md#x.y": ".md",
    "a.md?x=.y": ".md",
  }
  for (const [path, extension] of Object.entries(pairs)) assert.equal(getExtension(path), extension, path)
  assert.equal(getExtension(""), "")
})

test("filePathOf() removes the anchor, and percent-decodes the path if the result is valid", () => {
  assert.equal(filePathOf("my%20file.md#a"), "my file.md")
  assert.equal(filePathOf("a%zz.md"), "a%zz.md")
  assert.equal(filePathOf("a%00.md"), "a%00.md")
})

// Quadratic time for a megabyte would be minutes, beyond the time limit.
test("extractMarkdownLinks() takes linear time for hostile text", {
  timeout: 120_000,
}, () => {
  const hostile = [
    "[",
    "]",
    "[](",
    "[a](b",
    '[a](b "',
    "[a](b (",
    "[a](<",
    "![",
    "`a``",
    "[a](b)\\",
    "<!--",
    "> ",
    "[[a](b)](c)",
    "[](x(",
    "\n```",
    "- ",
  ]
  const read = (piece: string, length: number) =>
    extractMarkdownLinks(piece.repeat(Math.ceil(length / piece.length)))
  for (const piece of hostile) assert.ok(Array.isArray(read(piece, 1 << 20)), piece)
  const runs = Array.from({ length: 1_400 }, (_, i) => "`".repeat(i + 1)).join(" ")
  assert.deepEqual(read(runs, 1 << 20), [])
})
