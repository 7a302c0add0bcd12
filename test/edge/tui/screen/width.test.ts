import assert from "node:assert/strict"
import { test } from "node:test"
import { safe } from "#edge/tui/screen/safe.ts"
import { createPaint } from "#edge/tui/screen/style.ts"
import { cutTo, linkTo, widthOf, wrapTo } from "#edge/tui/screen/width.ts"

const paint = createPaint({ depth: 24, scheme: "dark" })
const plain = (text: string) => text.replace(/\u001b\[[\d;]*m/g, "")

test("widths: ASCII, accents, wide characters, emoji, flags and SGR sequences", () => {
  const cases: [string, number][] = [
    ["", 0],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["日本", 4],
    ["👍🏽", 2],
    ["👩‍💻", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["✅", 2],
    ["…", 1],
    ["น้ำ", 2],
    ["ນ້ຳ", 2],
    ["คำ", 2],
    [paint("error", "日x"), 3],
  ]
  for (const [text, width] of cases) assert.equal(widthOf(text), width, JSON.stringify(text))
})

test("text is cut at a cell and keeps its styles closed", () => {
  assert.equal(cutTo("hello world", 8), "hello w…")
  assert.equal(cutTo("日本語", 4), "日…")
  assert.equal(cutTo("short", 5), "short")
  assert.match(cutTo(paint("strong", "hello world"), 6), /^\u001b\[1mhello…\u001b\[0m$/)
})

test("text is wrapped between words, and long words and wide characters are broken", () => {
  assert.deepEqual(wrapTo("the quick brown fox", 10), ["the quick", "brown fox"])
  assert.deepEqual(wrapTo("- alpha beta gamma delta", 14, 2), ["- alpha beta", "  gamma delta"])
  assert.deepEqual(wrapTo("a".repeat(25), 10), ["a".repeat(10), "a".repeat(10), "a".repeat(5)])
  assert.deepEqual(wrapTo("日本語日本語", 5), ["日本", "語日", "本語"])
  assert.deepEqual(wrapTo("ab cdefghij", 6), ["ab", "cdefgh", "ij"])
})

test("a style is closed at the end of each line and opened again on the next", () => {
  const lines = wrapTo(paint("heading", "one two three"), 8)
  assert.deepEqual(lines.map(plain), ["one two", "three"])
  for (const line of lines) assert.match(line, /^\u001b\[1;38;2;[\d;]+m.*\u001b\[(0|22;39)m/)
})

test("no wrapped line is wider than asked, and no character is lost", () => {
  const words = ["a", "日本", "👩‍💻", "hello", "x".repeat(30), paint("code", "let x"), "é", "…"]
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % below
  }
  for (let i = 0; i < 500; i++) {
    const text = Array.from({ length: 1 + random(12) }, () => words[random(words.length)]).join(" ")
    const columns = 2 + random(30)
    const lines = wrapTo(text, columns, random(4))
    for (const line of lines) assert.ok(widthOf(line) <= columns, JSON.stringify({ text, columns, lines }))
    assert.equal(plain(lines.join("")).replaceAll(" ", ""), plain(text).replaceAll(" ", ""))
  }
})

test("nothing that acts on a terminal is left in safe text", () => {
  assert.equal(safe("a\u001b[2Jb\r\nc\td"), "a\\u001b[2Jb\nc    d")
  for (let code = 0; code < 0x3000; code++) {
    const character = String.fromCharCode(code)
    const isKept = code === 0x0a || code === 0x09
    if (!isKept && /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(character))
      assert.match(safe(character), /^\\u/, code.toString(16))
  }
  assert.equal(safe("\ud800"), "\ufffd")
})

test("a role continues after a role inside it", () => {
  const line = paint("added", `one ${paint("addedWord", "two")} three`)
  assert.match(line, /two\u001b\[22;27;39m\u001b\[38;2;130;205;130m three\u001b\[39m$/)
})

test("a hyperlink takes no cells, and is closed at the end of each line that it is broken into", () => {
  const [open, close] = ["\u001b]8;;https://a.b/c\u001b\\", "\u001b]8;;\u001b\\"]
  const linked = linkTo("https://a.b/c")!
  assert.equal(widthOf(linked("see this")), 8)
  assert.deepEqual(wrapTo(`x ${linked("one two")} y`, 6), [`x ${open}one${close}`, `${open}two${close} y`])
  assert.equal(cutTo(linked("see this"), 4), `${open}see…${close}`)
})

test("linkTo() takes addresses of the web only, as printable ASCII", () => {
  assert.equal(
    linkTo("https://exämple.test/ä b")!("x").split("\u001b")[1],
    "]8;;https://xn--exmple-cua.test/%C3%A4%20b",
  )
  for (const address of [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://",
    "//a.b",
    `https://a.b/${"x".repeat(3_000)}`,
  ])
    assert.equal(linkTo(address), undefined, address)
  assert.doesNotMatch(linkTo("https://a.b/\u001b]0;x\u0007")!("x"), /\u0007|\u001b\]0/)
})
