// A Markdown text in chunks: split at its sections, bounded, nothing lost.
import assert from "node:assert/strict"
import { test } from "node:test"
import { chunkMarkdown } from "#knowledge/rules/chunk-markdown.ts"
import { createRandom } from "../../fixture/random.ts"

const long = (word: string) => `${word} ${"and so on ".repeat(30)}`

test("a text is cut at its headings, each piece below the headings that it belongs to", () => {
  const text = `Before.\n\n# One\n\n${long("a")}\n\n## Two\n\n${long("b")}\n\n### Three\n${long("c")}\n\n## Four\n${long("d")}\n# Five\n${long("e")}`
  assert.deepEqual(
    chunkMarkdown(text).map(({ heading, line }) => [heading, line]),
    [
      ["One", 1],
      ["One > Two", 7],
      ["One > Two > Three", 11],
      ["One > Four", 14],
      ["Five", 16],
    ],
  )
})

test("a short section is joined with the one below it, not with its sibling", () => {
  assert.deepEqual(chunkMarkdown("# A\n\nshort\n\n## B\n\nalso\n\n## C\n\nlast"), [
    { heading: "A > B", line: 1, endLine: 7, text: "# A\n\nshort\n\n## B\n\nalso" },
    { heading: "A > C", line: 9, endLine: 11, text: "## C\n\nlast" },
  ])
})

test("a # in a fenced block is no heading", () => {
  const text = `# A\n\n\`\`\`sh\n# comment\n~~~\n# more\n\`\`\`\n\n${long("x")}\n\n# B`
  assert.deepEqual(
    chunkMarkdown(text).map(({ heading }) => heading),
    ["A", "B"],
  )
})

test("a long section is cut between paragraphs, then lines, then anywhere but in a character", () => {
  const paragraphs = Array.from({ length: 10 }, (_, i) => `Paragraph ${i}. ${"word ".repeat(60)}`.trim())
  for (const { text } of chunkMarkdown(`# A\n\n${paragraphs.join("\n\n")}`)) {
    assert.ok(text.length <= 1_600)
    assert.ok(text.endsWith("word"), text.slice(-20))
  }
  const pieces = chunkMarkdown("😀".repeat(5_000), 101)
  assert.equal(pieces.map(({ text }) => text).join(""), "😀".repeat(5_000))
  assert.ok(pieces.every(({ text }) => text.isWellFormed() && text.length <= 102))
})

test("nothing is lost of any text, and no piece is longer than the bound", () => {
  const random = createRandom(7)
  const parts = ["# H\n", "## I\n", "text ", "\n", "\n\n", "```\n", "x".repeat(300), "  ", "- item\n", "é"]
  for (let run = 0; run < 300; run++) {
    const text = Array.from({ length: 60 }, () => parts[random(parts.length)]).join("")
    const chunks = chunkMarkdown(text, 250)
    const words = (of: string) => of.replace(/\s+/g, "")
    assert.equal(words(chunks.map((chunk) => chunk.text).join("")), words(text))
    for (const chunk of chunks) {
      assert.ok(chunk.text.length <= 252, `${chunk.text.length}`)
      assert.ok(chunk.text.trim() !== "")
      assert.ok(text.split("\n")[chunk.line - 1]!.includes(chunk.text.split("\n")[0]!.slice(0, 249)))
    }
  }
})

test("an empty text has no pieces", () => {
  assert.deepEqual(chunkMarkdown(""), [])
  assert.deepEqual(chunkMarkdown(" \n\n \n"), [])
})
