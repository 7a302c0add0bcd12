import assert from "node:assert/strict"
import { test } from "node:test"
import { JsoncError, parseJsonc } from "#util/parse/jsonc.ts"

function refused(bytes: Uint8Array | string, expected: { line: number; column: number; message: RegExp }) {
  assert.throws(
    () => parseJsonc(bytes, "file.jsonc"),
    (error: unknown) => {
      assert.ok(error instanceof JsoncError)
      const { line, column } = expected
      assert.deepEqual(error.data, { source: "file.jsonc", line, column })
      assert.ok(error.message.startsWith(`file.jsonc:${line}:${column}: `), error.message)
      assert.match(error.message, expected.message)
      return true
    },
  )
}

test("parseJsonc() accepts comments, trailing commas, CRLF and a BOM", () => {
  const text = '\ufeff{\r\n  // line\r\n  "a": [1, 2,], /* block\r\n */ "b": { "c": null, },\r\n}\r\n'
  assert.deepEqual(parseJsonc(Buffer.from(text), "f").value, { a: [1, 2], b: { c: null } })
  assert.deepEqual(parseJsonc(text, "f").value, { a: [1, 2], b: { c: null } })
})

test("parseJsonc() keeps comment-like text in strings", () => {
  const value = { url: "https://x.y//z", block: "/* no */", star: "*/ // ,}" }
  assert.deepEqual(parseJsonc(JSON.stringify(value), "f").value, value)
})

test("parseJsonc() locates keys and items, or the nearest parent of a missing one", () => {
  const { locate } = parseJsonc('{\r\n  "a": {\n    "b": [10,\n     {"c": 1}]\n  }\n}', "f")
  assert.deepEqual(locate(["a"]), { line: 2, column: 3 })
  assert.deepEqual(locate(["a", "b"]), { line: 3, column: 5 })
  assert.deepEqual(locate(["a", "b", 1]), { line: 4, column: 6 })
  assert.deepEqual(locate(["a", "b", 1, "c"]), { line: 4, column: 7 })
  assert.deepEqual(locate(["a", "missing", "x"]), { line: 2, column: 3 })
  assert.deepEqual(locate([]), { line: 1, column: 1 })
})

test("parseJsonc() names the place of a syntax error", () => {
  refused('{\n  "a": 1\n  "b": 2\n}', { line: 3, column: 3, message: /"," is expected/ })
  refused('{"a": }', { line: 1, column: 7, message: /a value is expected/ })
  refused("{a: 1}", { line: 1, column: 2, message: /double quotes/ })
  refused('{"a": "x', { line: 1, column: 7, message: /string is not closed/ })
  refused('{"a": 1} x', { line: 1, column: 10, message: /not JSON/ })
  refused('{"a": 1} 2', { line: 1, column: 10, message: /nothing may follow/ })
  refused("{ /* x", { line: 1, column: 3, message: /comment is not closed/ })
})

test("parseJsonc() refuses a half-written file", () => {
  refused('{\n  "a": {"b": 1', { line: 2, column: 15, message: /closing "}" is expected/ })
})

test("parseJsonc() refuses an empty file and says what to write", () => {
  for (const text of ["", " \n\t", "// only\n/* comments */\n", "\ufeff"])
    refused(Buffer.from(text), { line: 1, column: 1, message: /empty; write \{\}/ })
})

test("parseJsonc() refuses a top level that is not an object", () => {
  refused("// c\n [1]", { line: 2, column: 2, message: /object.*not array/ })
  refused('"text"', { line: 1, column: 1, message: /object.*not string/ })
  refused("null", { line: 1, column: 1, message: /object.*not null/ })
})

test("parseJsonc() refuses invalid UTF-8 with its place, past a real replacement character", () => {
  const bad = Buffer.concat([Buffer.from('{\n"ä\ufffd": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
  refused(bad, { line: 2, column: 8, message: /UTF-8/ })
  refused(Buffer.from([0xff, 0xfe, 0x7b, 0x00]), { line: 1, column: 1, message: /UTF-8/ })
})

test("parseJsonc() refuses NUL", () => {
  refused('{\n"a": "x\0"}', { line: 2, column: 8, message: /NUL/ })
})

test("parseJsonc() refuses 100 000 levels without overflowing", () => {
  refused('{"a":'.repeat(100_000), { line: 1, column: 200 * 5 + 1, message: /deeper than 200/ })
  refused(`{"a":\n${"[".repeat(100_000)}`, { line: 2, column: 200, message: /deeper than 200/ })
})

test("parseJsonc() accepts 200 levels, and brackets in strings and comments do not count", () => {
  parseJsonc(`{"a": ${"[".repeat(199)}${"]".repeat(199)}}`, "f")
  parseJsonc(`{"a": "${"[".repeat(1000)}" /* ${"{".repeat(1000)} */ }`, "f")
})

test("parseJsonc() refuses __proto__ keys, escaped ones too", () => {
  refused('{"a": {"__proto__": {"x": 1}}}', { line: 1, column: 8, message: /__proto__/ })
  refused('{"\\u005f_proto__": {"x": 1}}', { line: 1, column: 2, message: /__proto__/ })
  assert.equal(({} as { x?: number }).x, undefined)
})

test("parseJsonc() refuses a duplicate key and names the first place", () => {
  refused('{\n "a": 1,\n "b": {"a": 2},\n "a": 3\n}', {
    line: 4,
    column: 2,
    message: /"a" is already at 2:2/,
  })
})

test("parseJsonc() keeps keys named like members of Object", () => {
  assert.deepEqual(parseJsonc('{"constructor": 1, "toString": 2}', "f").value, {
    constructor: 1,
    toString: 2,
  })
})

test("parseJsonc() refuses more than 1 MB", () => {
  refused(Buffer.from(`{"a": "${"x".repeat(1 << 20)}"}`), { line: 1, column: 1, message: /limit is 1048576/ })
})

test("parseJsonc() refuses more than 10,000 values", () => {
  const message = /more than 10000 values/
  const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1\n`)}}`
  assert.equal(Object.keys(parseJsonc(keys(10_000), "f").value).length, 10_000)
  refused(keys(10_001), { line: 10_001, column: 1, message })
  refused(`{"a":[\n${"1,\n".repeat(10_001)}]}`, { line: 10_000, column: 2, message })
})
