// `vitamin world analyze` as a process: one file for each rule, in one folder and one run.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import type { Report } from "#ability/analysis/analysis.ts"
import { rules } from "#ability/analysis/term/finding.ts"
import { vocabulary } from "#ability/analysis/term/vocabulary.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const page = (body: string, head = "") =>
  `<!doctype html>\n<html lang="en"><head><title>t</title>${head}</head>\n<body>${body}</body></html>\n`
/** A handler whose effect can be seen. */
const answer = `<output id="o"></output><script>function go() { document.getElementById("o").textContent = "1" }</script>`

/** By rule: the content of a file, its ending if that is not html, and where the rule is broken. */
const broken: Record<string, [text: string, at: string, ending?: string]> = {
  "html/unclosed": [page("\n<div>"), "4:1"],
  "html/stray-end": [page("\n</i>"), "4:1"],
  "html/cut": ["<p>x\n<b class=x", "2:1"],
  "html/too-deep": [page(`\n${"<div>".repeat(600)}${"</div>".repeat(600)}`), "4:2551"],
  "html/self-closing": [page("\n<div/>"), "4:1"],
  "html/duplicate-attribute": [page("\n<p id=a id=b>x</p>"), "4:9"],
  "html/unknown-element": [page("\n<buton>x</buton>"), "4:1"],
  "css/unclosed": ["\n.a { color: var(--known)", "2:1", "css"],
  "script/syntax": ["export const a = html`<p>x</p>`\nconst = 1", "2:7", "ts"],
  "token/undefined": ["\n.a { margin: 0 var(--knwon) }", "2:16", "css"],
  "token/literal-color": ["\n.a { background: url(x.png) RGB(1 2 3) }", "2:18", "css"],
  "token/literal-size": ["\n.a { padding: 0 12px }", "2:15", "css"],
  "style/inline": [page(`\n<p style="display: flex">x</p>`), "4:11"],
  "style/important": ["\n.a { display: none !important }", "2:15", "css"],
  "style/id-selector": ["\n/* a */ .b #c { display: none }", "2:9", "css"],
  "style/no-focus": ["\na { outline: none }", "2:14", "css"],
  "style/obsolete": [page("\n<center>x</center>"), "4:1"],
  "a11y/control-name": [page(`\n<input type="text">`), "4:1"],
  "a11y/image-alt": [page(`\n<img src="a.png">`), "4:1"],
  "a11y/heading-order": [page("<h1>a</h1>\n<h3>b</h3>"), "4:1"],
  "a11y/role": [page(`\n<div role="buton">x</div>`), "4:6"],
  "a11y/aria-attribute": [page(`\n<p aria-lable="x">x</p>`), "4:4"],
  "a11y/reference": [page(`\n<p aria-describedby="none">x</p>`), "4:4"],
  "a11y/duplicate-id": [page(`<p id="a">x</p>\n<p id="a">y</p>`), "4:4"],
  "a11y/lang": ["<!doctype html>\n<html><head><title>t</title></head><body>x</body></html>", "2:1"],
  "a11y/title": [`<!doctype html>\n<html lang="en"><body>x</body></html>`, "2:1"],
  "a11y/frame-title": [page(`\n<iframe src="a.html"></iframe>`), "4:1"],
  "a11y/click-target": [page(`\n<div onclick="go()">x</div>${answer}`), "4:1"],
  "a11y/tabindex": [page(`\n<p tabindex="3">x</p>`), "4:4"],
  "a11y/nested-control": [page(`\n<a href="/x"><button>x</button></a>`), "4:14"],
  "a11y/zoom": [page("x", `\n<meta name="viewport" content="user-scalable=no">`), "3:1"],
  "object/empty": [page("\n<h1></h1>"), "4:1"],
  "channel/nowhere": [page(`\n<a href="#">x</a>`), "4:1"],
  "channel/missing-target": [page(`\n<a href="#none">x</a>`), "4:1"],
  "loop/no-handler": [page("\n<button>Add</button>"), "4:1"],
  "loop/no-response": [page(`<script>function go() {}</script>\n<button onclick="go()">Add</button>`), "4:1"],
  "block/unnamed": [page("<nav>a</nav>\n<nav>b</nav>"), "4:1"],
  "import/missing": [
    `import { b } from "./none.ts"\nexport const a = () => html\`<p>\${b}</p>\``,
    "1:19",
    "ts",
  ],
  "import/unused": [
    `import { known, other } from "./known.ts"\nexport const a = \`<p>\${known.other}</p>\``,
    "1:17",
    "ts",
  ],
  "import/forbidden": [
    `\nimport { sep } from "node:path"\nexport const a = \`<p>\${sep}</p>\``,
    "2:21",
    "ts",
  ],
}

test("vitamin world analyze finds what breaks each rule, with its place and what to do", async () => {
  await using tmp = await tmpdir()
  tmp.write("known.css", ":root { --known: #fff }")
  tmp.write("known.ts", "export const known = { other: 1 }\nexport const other = 1")
  for (const [rule, [text, , ending = "html"]] of Object.entries(broken))
    tmp.write(`${rule.replace("/", "-")}.${ending}`, text)
  const { code, out, err } = await vitamin(tmp, ["world", "analyze", "--format", "json"])
  assert.equal(code, 1, err)
  const { files, errors } = JSON.parse(out) as Report
  const own = new Map(files.map(({ file, findings }) => [file.replace(/\.\w+$/, ""), findings]))
  for (const [rule, [, at]] of Object.entries(broken)) {
    const found = own.get(rule.replace("/", "-")) ?? []
    assert.deepEqual([...new Set(found.map((one) => one.rule))], [rule])
    const { line, column, message, fix, severity } = found[0]!
    assert.equal(`${line}:${column}`, at, rule)
    assert.match(message, /\.$/)
    assert.match(fix, /[.?]$/)
    assert.equal(severity, rules[rule as keyof typeof rules].severity)
  }
  assert.ok(errors > 20)
})

test("every rule has an example here or among the files that cannot be read", () => {
  const others = ["file/unreadable", "file/too-large", "file/not-utf8", "file/too-many-findings"]
  assert.deepEqual([...Object.keys(broken), ...others].sort(), Object.keys(rules).sort())
})

test("docs/analysis.md lists every rule with its severity", () => {
  const guide = readFileSync(new URL("../../../../docs/analysis.md", import.meta.url), "utf8")
  const rows = [...guide.matchAll(/^\| `(\w+\/[\w-]+)` \| (\w+) \|/gm)].map(([, rule, severity]) => [
    rule,
    severity,
  ])
  assert.deepEqual(
    rows,
    Object.entries(rules).map(([rule, { severity }]) => [rule, severity]),
  )
})

test("docs/analysis.md lists every term of the vocabulary with its values", () => {
  const guide = readFileSync(new URL("../../../../docs/analysis.md", import.meta.url), "utf8")
  for (const [term, fields] of Object.entries(vocabulary)) {
    const [row] = new RegExp(`^\\| ${term} \\|.*$`, "m").exec(guide)!
    for (const [field, values] of Object.entries(fields))
      assert.ok(row.includes(`${field}: ${values.join(", ")}`), row)
  }
})

test("vitamin world analyze describes a template in the structural vocabulary", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    "card.ts",
    `const html = String.raw
let count = 0
const add = (event: { target: { textContent: string } }) => { event.target.textContent = String(++count) }
export const Card = ({ items, onSave }: { items: string[]; onSave: () => void }) => html\`
  <section aria-label="Songs">
    <h2>Songs</h2>
    <ul>\${items.map((item) => html\`<li><a href="/\${item}">\${item}</a></li>\`)}</ul>
    <label>Sort <select><option>up</option></select></label>
    <button onclick=\${add}>Add</button>
    <button onclick=\${onSave}>Save</button>
    <a-player></a-player>
  </section>\``,
  )
  const { code, out, err } = await vitamin(tmp, ["world", "analyze", "card.ts", "--format", "json"])
  assert.equal(code, 0, out + err)
  const [{ structure, findings }] = (JSON.parse(out) as Report).files as [Report["files"][0]]
  assert.deepEqual(findings, [])
  const of = (items: readonly object[]) => items.map(({ at: _, ...rest }: { at?: number }) => rest)
  assert.deepEqual(of(structure.objects), [
    { name: "Songs", kind: "heading", grouping: "nested", isEmpty: false },
    { name: "…", kind: "list", grouping: "nested", isEmpty: false },
    { name: "…", kind: "text", grouping: "list", isEmpty: false },
  ])
  assert.deepEqual(of(structure.channels), [
    { name: "…", kind: "link", target: "/…" },
    { name: "Add", kind: "event", target: "onclick" },
    { name: "Save", kind: "event", target: "onclick" },
  ])
  assert.deepEqual(of(structure.levers), [
    { name: "Sort", kind: "choice", effect: "constraint" },
    { name: "Add", kind: "button", effect: "incentive" },
    { name: "Save", kind: "button", effect: "incentive" },
  ])
  assert.deepEqual(of(structure.loops), [
    { name: "Sort", action: "input", hasHandler: true, response: "state" },
    { name: "Add", action: "click", hasHandler: true, response: "state" },
    { name: "Save", action: "click", hasHandler: true, response: "state" },
  ])
  assert.deepEqual(of(structure.blocks), [
    { name: "Card", kind: "component", role: "Card", isNamed: true },
    { name: "Songs", kind: "section", role: "section", isNamed: true, pattern: "pool" },
    { name: "<a-player>", kind: "component", role: "a-player", isNamed: false },
  ])
})

test("vitamin world analyze prints one line per finding, and passes templates with warnings only", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.css", ".a { color: red }")
  const { code, out } = await vitamin(tmp, ["world", "analyze"])
  assert.equal(code, 0)
  assert.equal(
    out,
    [
      "a.css:1:13: warning token/literal-color: color has the literal colour red. Use a custom property, such as var(--color-text).",
      "1 file (0 objects, 0 channels, 0 levers, 0 loops, 0 blocks): 0 errors, 1 warning.",
    ].join("\n"),
  )
  const none = await vitamin(tmp, ["world", "analyze", "*.html"])
  assert.equal(none.code, 1)
  assert.match(none.err, /No template \(HTML, CSS, or TypeScript with markup\) fits \*\.html in/)
})
