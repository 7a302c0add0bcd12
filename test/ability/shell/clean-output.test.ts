// The output of a program after cleaning: each case as a whole, and byte by byte.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createCleaner } from "#ability/shell/clean-output.ts"

function clean(text: string, size = Number.MAX_SAFE_INTEGER): string {
  const cleaner = createCleaner()
  const bytes = Buffer.from(text)
  const out: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size)
    out.push(...cleaner.write(Buffer.from(bytes.subarray(at, at + size))).map((piece) => Buffer.from(piece)))
  return Buffer.concat([...out, ...cleaner.flush()]).toString()
}

const long = "é".repeat(10_000)
const cases: [what: string, raw: string, cleaned: string][] = [
  ["plain text", "one\n\ttwo\nthree", "one\n\ttwo\nthree"],
  ["characters of many bytes", "Grüße 你好 🚀\n", "Grüße 你好 🚀\n"],
  ["colours", "\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mrgb\x1b[m\n", "red rgb\n"],
  ["titles and links", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b\n", "alinkb\n"],
  ["other sequences", "\x1b(Ba\x1b7b\x1b=c\x1bPdata\x1b\\d\n", "abcd\n"],
  ["a sequence cut off by a line end", "\x1b]0;never ended\nnext\n", "\nnext\n"],
  ["a sequence begun in another", "\x1b[3\x1b[31mred\n", "red\n"],
  ["Windows line ends", "one\r\ntwo\r\r\nthree\r\n", "one\ntwo\nthree\n"],
  ["a progress bar", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
  ["a progress bar that begins with the return", "\r10%\r50%\r100%\n", "100%\n"],
  ["a progress bar at the very end", "10%\r100%\r", "100%"],
  ["a line erased", "loading…\r\x1b[Kready\n", "ready\n"],
  ["colours between return and line end", "text\r\x1b[0m\n", "text\n"],
  ["overstriking", "b\bbo\bold é\be\n", "bold e\n"],
  ["backspaces past the start", "a\n\b\bb\n", "a\nb\n"],
  ["control characters", "a\x00b\x07c\x7fd\x0ee\n", "abcde\n"],
  ["a long line", `${long}\n`, `${long}\n`],
]
for (const [what, raw, cleaned] of cases)
  test(`createCleaner(): ${what}`, () => {
    for (const size of [Number.MAX_SAFE_INTEGER, 1, 2, 3, 7])
      assert.equal(clean(raw, size), cleaned, `in pieces of ${size}`)
  })

test("createCleaner(): an endless sequence does not swallow all that follows", () => {
  assert.match(clean(`\x1b]0;${"x".repeat(10_000)}`), /^x{5000,}$/)
})

test("createCleaner(): a line that was already emitted is not overwritten", () => {
  const cleaner = createCleaner()
  cleaner.write(Buffer.from("Continue? "))
  assert.equal(Buffer.concat(cleaner.flush()).toString(), "Continue? ")
  assert.equal(Buffer.concat(cleaner.write(Buffer.from("\rnext\n"))).toString(), "\nnext\n")
})
