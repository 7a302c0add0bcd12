// The error for a text that is not in a file: it shows the nearest place, how that differs, and what would work.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { call, free, inProject } from "../tool/harness.ts"

const file = `import { a } from "./a.ts"

export function first(list: string[]) {
\tif (list.length === 0) {
\t\treturn “nothing”;\u0020\u0020
\t}

\treturn list[0];
}

export function last(list: string[]) {
\tconst text = 'it\u2019s\u00a0here';
\treturn list.at(-1);
}
// Ärger`

const near: [what: string, oldText: string, parts: RegExp[]][] = [
  [
    "spaces for tabs",
    "    if (list.length === 0) {\n        return",
    [/at lines 4-5/, /indentation \(1 tab in the file, 4 spaces in oldText\)/, /^4\t\tif \(list/m],
  ],
  ["no indentation", "if (list.length === 0) {\nreturn “nothing”;", [/lines 4-5/, /indentation/]],
  ["a blank line too few", "\t}\n\treturn list[0];", [/lines 6-8/, /blank lines/]],
  ["blanks at line ends", "\t\treturn “nothing”;\n\t}", [/lines 5-6/, /blanks at line ends/]],
  ["plain quotes", 'return "nothing";', [/at line 5; it differs in quotes:/]],
  [
    "a plain apostrophe and space",
    "'it's here'",
    [/line 12/, /differs in blanks within a line, quotes:/, /'it’s\\u00a0here'/],
  ],
  ["another blank within", "list.at( -1)", [/line 13/, /Line 13 of the file is "\\treturn list\.at\(-1\);"/]],
  ["other words", "export function newest(list: string[]) {", [/nearest text is at line (11|3):/]],
  [
    "one line that is another",
    "export function last(list: string[]) {\n\tconst text = 'other';\n\treturn list.at(-1);",
    [/lines 11-13/, /Line 12 of the file is .* oldText has "\\tconst text = 'other';"/],
  ],
  ["letters in parts", "A\u0308rger", [/line 15; it differs in letters that look alike/]],
  [
    "a blank line more before it",
    "\n\n\nexport function first(",
    [/line 3; .*blank lines before or after it/],
  ],
  [
    "an end that the last line lacks",
    "// Ärger\n",
    [/line 15; it differs in the last line end \(the file has none\)/],
  ],
  ["line numbers", "8\t\treturn list[0];\n9\t}", [/line numbers that read shows; leave them out/]],
  ["CRLF", "\treturn list[0];\r\n}", [/CRLF where the file has LF/]],
  ["escapes", "\\treturn list[0];\\n}", [/escaped once too often/]],
  ["nothing like it", "SELECT * FROM users WHERE id = 7", [/Nothing in the file is like it/]],
  ["only blanks", "\n\n\n\n\n", [/Nothing in the file is like it/]],
]
for (const [what, oldText, parts] of near)
  test(`edit reports the nearest text for ${what}, and changes nothing`, async () => {
    await inProject(async (tmp) => {
      const path = tmp.write("a.ts", file)
      const edits = [{ oldText, newText: "changed" }]
      const result = await call("edit", { path: "a.ts", edits }, { slots: free })
      assert.equal(result.status, "error")
      assert.match(result.text, /^oldText was not found in "a\.ts"; nothing was changed\. /)
      for (const part of parts) assert.match(result.text, part)
      assert.equal(readFileSync(path, "utf8"), file)
    })
  })

test("edit reports that newText is in the file already", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.ts", file)
    const edits = [{ oldText: "return list[1];", newText: "return list[0];" }]
    assert.match(
      (await call("edit", { path: "a.ts", edits }, { slots: free })).text,
      /newText is in the file already/,
    )
  })
})

test("edit reports in the file's own letters, whatever its encoding", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", Buffer.from("\ufeffGrüße  an\r\nalle\r\n", "utf16le"))
    tmp.write("b.txt", Buffer.from("Gr\xfc\xdfe  an\r\nalle\r\n", "latin1"))
    for (const path of ["a.txt", "b.txt"]) {
      const edits = [{ oldText: "Grüße an\nalle", newText: "x" }]
      const { text } = await call("edit", { path, edits }, { slots: free })
      assert.match(text, /at lines 1-2; it differs in blanks within a line:\n1\tGrüße {2}an\n2\talle\n/)
    }
  })
})

test("edit reports briefly and fast in a large file with long lines", async () => {
  await inProject(async (tmp) => {
    const line = "the quick brown fox jumps over the lazy dog ".repeat(20)
    tmp.write("a.txt", Array.from({ length: 10_000 }, (_, i) => `${i} ${line}\n`).join(""))
    const oldText = Array.from({ length: 200 }, (_, i) => `${i + 500}  ${line}`).join("\n")
    const { text } = await call("edit", { path: "a.txt", edits: [{ oldText, newText: "" }] }, { slots: free })
    assert.match(text, /at lines 501-700/)
    assert.ok(text.length < 4_000)
  })
})
