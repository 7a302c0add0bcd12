// `vitamin world analyze` on files that are broken or hostile: each is named, within limits, and the others are analyzed.
import assert from "node:assert/strict"
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Finding, Report } from "#ability/analysis/analysis.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const good = `<button type="button" onclick="this.textContent = 'Done'">Go</button>\n`

async function analyze(tmp: Tmp): Promise<Map<string, Finding[]>> {
  tmp.write("good.html", good)
  const { out, err } = await vitamin(tmp, ["world", "analyze", "--format", "json"])
  assert.equal(err, "")
  const findings = new Map((JSON.parse(out) as Report).files.map((file) => [file.file, file.findings]))
  assert.deepEqual(findings.get("good.html"), [])
  return findings
}

function rulesOf(findings: Finding[] | undefined): string[] {
  return [...new Set(findings?.map(({ rule }) => rule))].sort()
}

test("broken markup, code and styles are named, and the other files analyzed", async () => {
  await using tmp = await tmpdir()
  const files: Record<string, [text: string, rules: string[]]> = {
    "quote.html": [`<p class="a>text</p>`, ["html/cut"]],
    "crossed.html": ["<b><i>x</b></i>", ["html/stray-end", "html/unclosed"]],
    "comment.html": ["<p>x</p><!-- <p>", []],
    "nul.html": ["<p>\0</p>\0<", []],
    "empty.html": ["", []],
    "code.ts": ["export const a = `<p>x</p>`\nfunction {", ["script/syntax"]],
    "open.ts": ["export const a = `<p>${", ["script/syntax"]],
    "inline.html": [`<script>const = 1</script><p onmouseover="(">x</p>`, ["script/syntax"]],
    "string.css": [`.a { content: "open\n }\n.b {} }`, []],
    "braces.css": ["}}}}{{{{", ["css/unclosed"]],
    "comment.css": [".a { /* ", ["css/unclosed"]],
    "circle.ts": [`import "./circle.ts"\nexport const a = \`<p>x</p>\``, []],
  }
  for (const [file, [text]] of Object.entries(files)) tmp.write(file, text)
  const findings = await analyze(tmp)
  for (const [file, [, rules]] of Object.entries(files))
    assert.deepEqual(rulesOf(findings.get(file)), rules, file)
})

test("files that are not UTF-8 or too large are named", async () => {
  await using tmp = await tmpdir()
  writeFileSync(join(tmp.path, "latin.html"), Buffer.from("<p>caf\xe9</p>", "latin1"))
  writeFileSync(join(tmp.path, "binary.css"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]))
  tmp.write("large.html", "x".repeat(4_000_001))
  tmp.write("bom.html", `\uFEFF${good}`)
  tmp.write("../outside.html", good)
  symlinkSync("../outside.html", join(tmp.path, "link.html"))
  const linked = await vitamin(tmp, ["world", "analyze", "link.html"])
  assert.match(linked.out, /^link\.html:1:1: error file\/unreadable: The file is outside the folder/)
  const findings = await analyze(tmp)
  assert.deepEqual(rulesOf(findings.get("latin.html")), ["file/not-utf8"])
  assert.deepEqual(rulesOf(findings.get("binary.css")), ["file/not-utf8"])
  assert.deepEqual(rulesOf(findings.get("large.html")), ["file/too-large"])
  assert.deepEqual(findings.get("bom.html"), [])
})

test("templates of 1 MB and 100,000 levels are analyzed within limits", async () => {
  await using tmp = await tmpdir()
  const mega = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length))
  const levels = 100_000
  const files: Record<string, [text: string, rules: string[]]> = {
    "large.html": [mega("<p>Some text</p>\n"), []],
    "large.ts": [`export const a = (x: string) => \`${mega("<p>$" + "{x}</p>\n")}\``, []],
    "deep.html": ["<div>".repeat(levels) + "</div>".repeat(levels), ["html/too-deep"]],
    "open.html": ["<div>".repeat(levels), ["file/too-many-findings", "html/too-deep", "html/unclosed"]],
    "lists.html": [
      "<ul><li>".repeat(levels),
      ["file/too-many-findings", "html/too-deep", "html/unclosed", "object/empty"],
    ],
    "buttons.html": [mega("<button>x</button>"), ["file/too-many-findings", "loop/no-handler"]],
    "angles.html": [mega("<"), []],
    "ends.html": [mega("</b>"), ["file/too-many-findings", "html/stray-end"]],
    "deep.ts": [`export const a = ${"`<p>${".repeat(levels)}1${"}</p>`".repeat(levels)}`, ["script/syntax"]],
    "brackets.ts": [`export const a = \`<p>x</p>\`\n${"(".repeat(levels)}`, ["script/syntax"]],
    "braces.css": ["a{".repeat(levels), ["css/unclosed"]],
    "urls.css": [`.a { background: ${mega("url(")} }`, []],
  }
  for (const [file, [text]] of Object.entries(files)) tmp.write(file, text)
  const findings = await analyze(tmp)
  for (const [file, [, rules]] of Object.entries(files)) {
    assert.deepEqual(rulesOf(findings.get(file)), rules, file)
    assert.ok(findings.get(file)!.length <= 402, file)
  }
})
