// The bundle is plain ASCII, and means what the source says.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { withEscapes } from "../../script/only-ascii.ts"

const at = (text: string, part: string) => ({
  start: text.indexOf(part),
  end: text.indexOf(part) + part.length,
})

test("characters beyond ASCII are escaped in strings, templates and patterns", () => {
  const code = "return 'ü😀' + `…$" + "{1}→` + /[ä-ö]/.test('ö') + '\\é' + '\\\\é' + /\\é/.test('é') // é"
  const escaped = withEscapes(code, { type: "Program", start: 0, end: code.length })
  assert.match(escaped, /^[\0-\x7f]*$/)
  assert.equal(new Function(escaped)(), new Function(code)())
})

test("names and tagged templates keep theirs, and patterns are escaped by whole characters", () => {
  const code = "String.raw`é` + /[😀é]/u.source + 'é' + 𐍈"
  const quasi = { type: "TemplateLiteral", ...at(code, "`é`") }
  const body = [
    { type: "TaggedTemplateExpression", ...at(code, "String.raw`é`"), quasi },
    { type: "Literal", ...at(code, "/[😀é]/u"), regex: { flags: "u" } },
    { type: "Identifier", ...at(code, "𐍈") },
  ]
  const escaped = withEscapes(code, { type: "Program", start: 0, end: code.length, body })
  assert.equal(escaped, "String.raw`é` + /[\\u{1f600}\\u00e9]/u.source + '\\u00e9' + 𐍈")
})

test("files of the bundle that every command loads are plain ASCII", () => {
  const files = readdirSync("dist").filter((name) => /^(?:vitamin\.|command-|base-|core-).*js$/.test(name))
  assert.ok(files.length >= 4)
  for (const name of files) assert.match(readFileSync(`dist/${name}`, "utf8"), /^[\0-\x7f]*$/, name)
})
