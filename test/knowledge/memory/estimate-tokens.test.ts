import assert from "node:assert/strict"
import { test } from "node:test"
import { estimateTokens } from "#knowledge/memory/tokens.ts"

/** Texts with the number of tokens that common tokenizers find in them at most, per character. */
const texts: [name: string, text: string, least: number, most: number][] = [
  ["words", "The quick brown fox jumps over the lazy dog and runs away. ".repeat(20), 0.22, 0.45],
  [
    "code",
    'export function read(path: string): Promise<string> {\n  return readFile(path, "utf8")\n}\n'.repeat(9),
    0.26,
    0.6,
  ],
  [
    "JSON",
    JSON.stringify(Array.from({ length: 50 }, (_, i) => ({ id: i, name: `n${i}`, ok: true }))),
    0.4,
    1,
  ],
  [
    "Base64",
    Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * 7919) % 256)).toString("base64"),
    0.7,
    1,
  ],
  ["a hash", "3f9a0c77d1e2b45588aa10ff".repeat(20), 0.55, 1],
  ["digits", "3141592653589793".repeat(30), 0.99, 1],
  ["Chinese", "世界各地的人们都在说话".repeat(30), 1.2, 2],
  ["Japanese", "これは日本語の文章です。".repeat(30), 1, 2],
  ["Russian", "Съешь ещё этих мягких французских булок. ".repeat(20), 0.5, 1],
  ["emoji", "👋🌍".repeat(50), 1, 1.5],
]

for (const [name, text, least, most] of texts)
  test(`estimateTokens() of ${name} is not below what tokenizers find, and not far above`, () => {
    const share = estimateTokens(text) / text.length
    assert.ok(share >= least && share <= most, `${share} of a token per character`)
  })

test("estimateTokens() counts runs of blanks and signs as a few tokens", () => {
  assert.ok(estimateTokens(" ".repeat(1_000)) < 300)
  assert.ok(estimateTokens("-".repeat(1_000)) < 350)
  assert.equal(estimateTokens(""), 0)
})
