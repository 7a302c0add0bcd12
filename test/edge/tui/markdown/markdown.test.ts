import assert from "node:assert/strict"
import { test } from "node:test"
import { createHighlighter } from "#edge/tui/markdown/highlight.ts"
import { createLanguages } from "#edge/tui/markdown/languages.ts"
import { createMarkdown } from "#edge/tui/markdown/markdown.ts"
import type { View } from "#edge/tui/screen/line.ts"
import { createPaint } from "#edge/tui/screen/style.ts"
import { widthOf } from "#edge/tui/screen/width.ts"
import { createRandom } from "../../../fixture/random.ts"

const paint = createPaint({ depth: 24, scheme: "dark" })
const languages = createLanguages()
for (const name of ["ts", "js"]) await languages.load(name)

function viewOf(columns: number, isPlain = true): () => View {
  return () => ({ columns, rows: 24, paint: isPlain ? (_, text) => text : paint })
}

function linesOf(chunks: string[], view = viewOf(40)): string[] {
  const markdown = createMarkdown(view, { languages })
  const lines: string[] = []
  for (const [i, chunk] of chunks.entries()) {
    markdown.add(chunk)
    if (i % 50 === 0) markdown.open()
    lines.push(...markdown.take())
  }
  markdown.end()
  return [...lines, ...markdown.take()]
}

const cases: [title: string, text: string[], lines: string[]][] = [
  ["headings and paragraphs", ["# A *b*", "c", "d", "", "", "## E ##", "f"], ["A b", "c", "d", "", "E", "f"]],
  ["an underlined heading", ["a", "===", "b", "---", "c"], ["a", "", "b", "c"]],
  [
    "wrapped text",
    ["one two three four five six seven eight nine"],
    ["one two three four five six seven eight", "nine"],
  ],
  ["code without a fence", ["f() {", "  if (a)", "      b()", "}"], ["f() {", "  if (a)", "      b()", "}"]],
  ["a list", ["a:", "- b", "* c", "", "+ d"], ["a:", "• b", "• c", "", "• d"]],
  ["a numbered list", ["1. a", "2. b", "10) c"], ["1. a", "2. b", "10) c"]],
  [
    "wrapped list items",
    ["- one two three four five six seven eight nine"],
    ["• one two three four five six seven", "  eight nine"],
  ],
  ["nested lists", ["- a", "  - b", "    1. c", "- d"], ["• a", "  • b", "    1. c", "• d"]],
  ["a list below a number that is indented by two", ["1. a", "  - b", "2. c"], ["1. a", "   • b", "2. c"]],
  ["task items", ["- [ ] a", "- [x] b", "  - [X] c"], ["☐ a", "☑ b", "  ☑ c"]],
  ["a second paragraph of an item", ["- a", "", "  b", "", "c"], ["• a", "", "  b", "", "c"]],
  ["an empty item", ["- ", "- a", "-"], ["• ", "• a", "• "]],
  ["a number in a paragraph", ["born in", "1999. then"], ["born in", "1999. then"]],
  ["quotes", ["> a", "> > b", "> - c", "", "d"], ["│ a", "│ │ b", "│ • c", "", "d"]],
  ["a lazy line of a quote", ["> a", "b"], ["│ a", "│ b"]],
  [
    "fenced code",
    ["a", "```ts", "  let  x", "", "# no", "```", "b"],
    ["a", "", "```ts", "  let  x", "", "# no", "```", "", "b"],
  ],
  [
    "a fence in a list",
    ["- a", "  ~~~", "  b", "  ~~~", "- c"],
    ["• a", "", "  ~~~", "  b", "  ~~~", "", "• c"],
  ],
  ["a fence with a fence inside", ["````md", "```", "````"], ["````md", "```", "````"]],
  ["a fence that is never closed", ["```", "a"], ["```", "a"]],
  ["long code without wrapping", ["```", "x".repeat(60), "```"], ["```", "x".repeat(60), "```"]],
  ["indented code", ["a", "", "    b", "", "      c", "d"], ["a", "", "b", "", "  c", "", "d"]],
  ["a thematic break", ["a", "", "***", "b"], ["a", "", "─".repeat(40), "", "b"]],
  [
    "a table",
    ["| a | bb |", "|---|--:|", "| c `d` | 1 |", "x"],
    ["a   │ bb", "────┼───", "c d │  1", "x   │"],
  ],
  ["a table with pipes in cells", ["a|b", "-|-", "\\|c|`d`"], ["a  │ b", "───┼──", "|c │ d"]],
  ["half a table", ["text", "", "| a | b |"], ["text", "", "| a | b |"]],
  ["a table without rows", ["| a | b |", "|---|---|"], ["a │ b", "──┼──"]],
  ["HTML as text", ["<div>", "a", "</div>"], ["<div>", "a", "</div>"]],
  ["tabs and Windows line ends", ["- a\r", "\t- b\r", "c\td\r", ""], ["• a", "  • b", "    c    d"]],
  ["control characters", ["a\u001b[31mb\u0007\u009b1m\u202e"], ["a\\u001b[31mb\\u0007\\u009b1m\\u202e"]],
  ["a broken character", ["a\ud800b"], ["a\ufffdb"]],
]

for (const [title, text, lines] of cases) {
  test(`createMarkdown() shows ${title}`, () => assert.deepEqual(linesOf([text.join("\n")]), lines))
}

test("createMarkdown() shrinks the columns of a wide table and wraps its cells", () => {
  const table = [
    "| name | what it does |",
    "|---|---|",
    "| alpha | one two three four five six |",
    "| b | c |",
  ]
  assert.deepEqual(linesOf([table.join("\n")], viewOf(24)), [
    "name  │ what it does",
    "──────┼─────────────────",
    "alpha │ one two three",
    "      │ four five six",
    "──────┼─────────────────",
    "b     │ c",
  ])
})

test("createMarkdown() shows a table as lists if the terminal is too narrow", () => {
  const table = [
    "| one | two | three |",
    "|---|---|---|",
    "| aaaaaaaa | bbbbbbbb | cccccccc |",
    "| d | | e |",
  ]
  const lines = linesOf([table.join("\n")], viewOf(16))
  assert.deepEqual(lines, ["one: aaaaaaaa", "two: bbbbbbbb", "three: cccccccc", "", "one: d", "three: e"])
})

test("createMarkdown() shows a long table in parts, with one head", () => {
  const rows = Array.from({ length: 450 }, (_, i) => `| ${i} | x |`)
  const lines = linesOf([["| a | b |", "|---|---|", ...rows].join("\n")])
  assert.equal(lines.length, 452)
  assert.equal(lines.filter((line) => line.includes("┼")).length, 1)
})

test("createMarkdown() paints blocks", () => {
  const lines = linesOf(["# a\n\n> b\n\n- `c`\n\n```js\nlet d = 1 // e\n```"], viewOf(40, false))
  assert.deepEqual(lines, [
    paint("heading", "a"),
    "",
    `${paint("quote", "│ ")}b`,
    "",
    `${paint("accent", "• ")}${paint("code", "c")}`,
    "",
    paint("dim", "```js"),
    `${paint("keyword", "let")} ${paint("function", "d")} = ${paint("number", "1")} ${paint("comment", "// e")}`,
    paint("dim", "```"),
  ])
})

test("createMarkdown() carries the state of a highlighted comment from line to line", () => {
  const lines = linesOf(["```ts\n/* a\n   b */ 1\n"], viewOf(40, false))
  assert.deepEqual(lines.slice(1), [
    paint("comment", "/* a"),
    `${paint("comment", "   b */")} ${paint("number", "1")}`,
  ])
})

test("createMarkdown() finishes each line of code and each block at once, and shows the open one", () => {
  const markdown = createMarkdown(viewOf(40), { languages })
  markdown.add("a **b")
  assert.deepEqual([markdown.take(), markdown.open()], [[], ["a **b"]])
  markdown.add("** c")
  assert.deepEqual([markdown.take(), markdown.open()], [[], ["a b c"]])
  markdown.add("\n\n```\nd")
  assert.deepEqual([markdown.take(), markdown.open()], [["a b c", "", "```"], ["d"]])
  markdown.add("e\n")
  assert.deepEqual([markdown.take(), markdown.open()], [["de"], []])
  markdown.add("```\n- f\n- g")
  assert.deepEqual([markdown.take(), markdown.open()], [["```"], ["", "• f", "• g"]])
  markdown.add("\n| x | y |\n|--")
  assert.deepEqual(markdown.take(), ["", "• f"])
})

test("createMarkdown() finishes the first lines of a long paragraph before it ends", () => {
  const markdown = createMarkdown(viewOf(40), { languages })
  markdown.add("some **words** and more ".repeat(500))
  const finished = markdown.take()
  assert.ok(finished.length > 200)
  assert.ok(finished.every((line) => widthOf(line) <= 40 && !line.includes("*")))
  assert.ok(markdown.open().length < 24)
})

const all = cases.map(([, text]) => text.join("\n")).join("\n\n")
const long = `${"word ".repeat(900)}\n\n# ${"h".repeat(2_000)}\n\n- ${"日本語 **x** ".repeat(400)}\n| a |\n${"y".repeat(3_000)}`

for (const [title, text] of [
  ["every block", all],
  ["long lines", long],
] as const)
  test(`createMarkdown() shows ${title} the same however the text is split`, () => {
    const whole = linesOf([text], viewOf(30, false))
    for (let seed = 1; seed <= 12; seed++) {
      const random = createRandom(seed)
      const most = seed === 1 ? 1 : 2 ** seed
      const chunks: string[] = []
      for (let at = 0; at < text.length; ) {
        const size = 1 + random(most)
        chunks.push(text.slice(at, at + size))
        at += size
      }
      assert.deepEqual(linesOf(chunks, viewOf(30, false)), whole)
    }
  })

for (const [title, piece, times] of [
  ["a million characters without a blank", "x".repeat(100), 10_000],
  ["10,000 lines of code", `${"let x = 1 ".repeat(8)}\n`, 10_000],
  ["marks that are never closed", "*a _b [c `d ", 5_000],
  ["a long list", "- one two three\n", 10_000],
  ["a long table", "| a | b |\n", 10_000],
] as const)
  test(`createMarkdown() works on each character of ${title} a few times at most`, () => {
    let worked = 0
    const markdown = createMarkdown(viewOf(80), {
      languages,
      count(characters) {
        worked += characters
      },
    })
    if (title.includes("code")) markdown.add("```ts\n")
    if (title.includes("table")) markdown.add("| a | b |\n|---|---|\n")
    for (let i = 0; i < times; i++) markdown.add(piece)
    markdown.end()
    assert.ok(markdown.take().length > 100)
    assert.ok(worked <= 4 * piece.length * times, `${worked} of ${piece.length * times}`)
  })

test("createMarkdown() works on a bounded part for a frame", () => {
  let worked = 0
  const markdown = createMarkdown(viewOf(80), {
    languages,
    count(characters) {
      worked += characters
    },
  })
  markdown.add("x".repeat(1_000_000))
  worked = 0
  markdown.open()
  assert.ok(worked <= 4_000, String(worked))
})

test("createMarkdown() holds back code and what follows until the language is loaded", async () => {
  const whole = linesOf(["a\n\n```py\nx = 1\n```\nb\n```go\nfunc\n```\n"], viewOf(40, false))
  assert.deepEqual(whole, ["a", "", paint("dim", "```py")])
  const { promise, resolve } = Promise.withResolvers<void>()
  const markdown = createMarkdown(viewOf(40, false), {
    languages: createLanguages(),
    changed: () => markdown.isDone() && resolve(),
  })
  markdown.add("a\n\n```py\nx = ")
  markdown.add("1\n```\nb\n```go\nfunc\n```\nc")
  markdown.end()
  assert.equal(markdown.isDone(), false)
  await promise
  assert.deepEqual(markdown.take(), [
    "a",
    "",
    paint("dim", "```py"),
    `x = ${paint("number", "1")}`,
    paint("dim", "```"),
    "",
    "b",
    "",
    paint("dim", "```go"),
    paint("keyword", "func"),
    paint("dim", "```"),
    "",
    "c",
  ])
})

test("createLanguages() highlights PHP", async () => {
  const languages = createLanguages()
  await languages.load("php")
  const highlighter = createHighlighter(languages.get("php")!)
  const lines = ["<?php // a", "function f(int $a): string { return 'it\\'s' . $a; } # b", "echo null ?>"]
  const shown = lines.map((line) =>
    highlighter
      .take(line)
      .map(({ text, role }) => (role ? `‹${role}:${text}›` : text))
      .join(""),
  )
  assert.deepEqual(shown, [
    "‹type:<?php› ‹comment:// a›",
    "‹keyword:function› f(‹type:int› $a): ‹type:string› { ‹keyword:return› ‹string:'it\\'s'› . $a; } ‹comment:# b›",
    "‹keyword:echo› ‹keyword:null› ‹type:?>›",
  ])
})
