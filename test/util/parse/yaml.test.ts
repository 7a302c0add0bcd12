import assert from "node:assert/strict"
import { test } from "node:test"
import { decodeText, parseYaml, YamlError } from "#util/parse/yaml.ts"

function refused(text: string, place: { line: number; column: number }, reason: RegExp, firstLine?: number) {
  assert.throws(
    () => parseYaml(text, "f.yaml", firstLine),
    (error: unknown) => {
      assert.ok(error instanceof YamlError, String(error))
      assert.deepEqual(error.data, { source: "f.yaml", ...place })
      assert.match(error.reason, reason)
      return true
    },
  )
}

test("parseYaml() reads maps, lists, block text and plain values", () => {
  const { value } = parseYaml('a: [1, two, "3"]\nb:\n  - c: true\n    d: null\ne: |\n  x\n  y\n', "f")
  assert.deepEqual(value, { a: [1, "two", "3"], b: [{ c: true, d: null }], e: "x\ny\n" })
  assert.equal(parseYaml("", "f").value, null)
  // As in YAML 1.2, these are texts.
  assert.deepEqual(parseYaml("a: no\nb: 2020-01-01\nc: 1_000", "f").value, {
    a: "no",
    b: "2020-01-01",
    c: "1_000",
  })
})

test("parseYaml() locates keys and items, or the nearest parent of a missing one", () => {
  const { locate } = parseYaml("a:\n  b:\n    - 10\n    - c: 1\nd: 2\n", "f", 3)
  assert.deepEqual(locate(["a", "b"]), { line: 4, column: 3 })
  assert.deepEqual(locate(["a", "b", 1, "c"]), { line: 6, column: 7 })
  assert.deepEqual(locate(["a", "missing"]), { line: 3, column: 1 })
  assert.deepEqual(locate(["d"]), { line: 7, column: 1 })
})

test("parseYaml() refuses a duplicate key, with its place", () => {
  refused("a: 1\nb: 2\na: 3", { line: 3, column: 1 }, /"a" is there twice/)
  refused("x:\n  a: 1\n  a: 3", { line: 12, column: 3 }, /"a" is there twice/, 10)
})

test("parseYaml() refuses an alias bomb at once, and accepts a few aliases", () => {
  const levels = [..."bcdefghi"].map((name, i) => {
    const before = Array(9).fill(`*${"abcdefgh"[i]}`)
    return `${name}: &${name} [${before.join(", ")}]`
  })
  refused(
    ["a: &a [x, x, x, x, x, x, x, x, x]", ...levels].join("\n"),
    { line: 4, column: 16 },
    /more than \d+ aliases/,
  )
  const doubling = [..."bcdefghij"].map(
    (name, i) => `${name}: &${name} [*${"abcdefghi"[i]}, *${"abcdefghi"[i]}]`,
  )
  refused(["a: &a [x]", ...doubling].join("\n"), { line: 1, column: 1 }, /more than \d+ aliases/)
  assert.deepEqual(parseYaml("a: &x [1]\nb: *x\n", "f").value, { a: [1], b: [1] })
  refused("a: *nothing", { line: 1, column: 1 }, /nothing/)
})

for (const [name, text, place, reason] of [
  ["a tag that would make code", "a: !!js/function 'x'", { line: 1, column: 4 }, /tag/i],
  ["a second document", "a: 1\n---\nb: 2", { line: 2, column: 1 }, /one document/],
  ["tabs as indentation", "a:\n\t- x", { line: 2, column: 1 }, /tabs/i],
  ["a text that is not closed", 'a: "b', { line: 1, column: 6 }, /closing/],
] as const)
  test(`parseYaml() refuses ${name}`, () => refused(text, place, reason))

test("parseYaml() refuses a hundred thousand levels and too long texts, and accepts ten thousand keys", () => {
  assert.throws(() => parseYaml(`a: ${"[".repeat(100_000)}`, "f"), { message: /nested too deep/ })
  assert.throws(() => parseYaml(`a: ${"x".repeat(200_000)}`, "f"), {
    message: /too many; the limit is 131072/,
  })
  const many = Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join("\n")
  assert.equal(Object.keys(parseYaml(many, "f").value as object).length, 10_000)
})

test("decodeText() removes a BOM, normalises line ends, and refuses invalid UTF-8", () => {
  assert.equal(decodeText(Buffer.from("\ufeffa\r\nb\rc\n"), "f"), "a\nb\nc\n")
  assert.throws(() => decodeText(Buffer.from([0x61, 0xff]), "f"), {
    message: "f:1:1: the file is not valid UTF-8",
  })
})
