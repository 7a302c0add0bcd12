// 200 random edits in files of every kind, from one seed: the bytes around an edit stay, and the new bytes are
// exactly those that the edit asked for.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { call, free, inProject } from "../harness.ts"

type Random = (below: number) => number
type Encoding = "utf8" | "utf8 with BOM" | "utf16le" | "utf16be" | "latin1"
const encodings: Encoding[] = ["utf8", "utf8 with BOM", "utf16le", "utf16be", "latin1"]
const ends = { lf: ["\n"], crlf: ["\r\n"], mixed: ["\n", "\r\n"] } as const
const plain = ["$&", "$1", "$$", "$`", "$'", "$<a>", "\\1", "\\n", ".*", "(a|b)+", "[^x]", "^$", "{2,3}", "?"]
const words = ["const", "x", "  ", "\t", "=", '"', "'", "//", "0", "if (a) {", "}", "", ...plain]
const letters = {
  wide: ["ä", "€", "😀", "日本", "é", "\u00a0", "\u2028"],
  narrow: ["ä", "é", "ÿ", "\x80", "§"],
}

function createRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function encode(text: string, encoding: Encoding): Buffer {
  if (encoding === "latin1") return Buffer.from(text, "latin1")
  if (encoding.startsWith("utf8")) return Buffer.from(text)
  const bytes = Buffer.from(text, "utf16le")
  return encoding === "utf16be" ? bytes.swap16() : bytes
}

/** A file, the place in it that is edited, and the edit. */
function createCase(random: Random) {
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!
  const encoding = pick(encodings)
  const style = pick(Object.keys(ends) as (keyof typeof ends)[])
  const some = encoding === "latin1" ? letters.narrow : letters.wide
  const line = () => Array.from({ length: random(8) }, () => pick(random(4) ? words : some)).join(" ")
  const lines = (count: number) => Array.from({ length: count }, () => line() + pick(ends[style])).join("")
  // Nothing else in the file has these two words, so that the place is one place.
  const inner = random(3) ? "" : pick(ends[style]) + lines(random(3))
  const place = `<<${line()}${inner}${line()}>>`
  const after = random(2) ? line() : pick(ends[style]) + lines(random(20)) + (random(2) ? line() : "")
  // Latin-1 must be seen to be that: some byte in it is no UTF-8.
  const before = lines(random(20)) + (encoding === "latin1" ? `\xe9 ${pick(ends[style])}` : "") + line()
  const newText = Array.from({ length: random(4) + 1 }, line).join("\n")
  return { encoding, style, before, place, after, newText: `${newText}$&${line()}` }
}

/** The line end that the edited place has: inside, after, before it. */
function endOf(texts: string[]): string {
  const [before, place, after] = texts as [string, string, string]
  const found = [place, after].map((text) => /\r?\n/.exec(text)?.[0]).find(Boolean)
  return found ?? /\r?\n(?![\s\S]*\n)/.exec(before)?.[0] ?? "\n"
}

test("200 edits in random files change what was asked for and not one byte around it", async () => {
  const random = createRandom(20_261_115)
  const seen = new Map<string, number>()
  await inProject(async (tmp) => {
    for (let i = 0; i < 200; i++) {
      const { encoding, style, before, place, after, newText } = createCase(random)
      const bom = encoding === "utf8" || encoding === "latin1" ? "" : "\ufeff"
      const name = `${i}.txt`
      const path = tmp.write(name, encode(bom + before + place + after, encoding))
      const oldText = place.replaceAll("\r\n", "\n")
      if (random(2)) await call("read", { path: name })
      const result = await call("edit", { path: name, edits: [{ oldText, newText }] }, { slots: free })
      assert.equal(result.status, "success", `${i}: ${result.text}`)
      const put = newText.replaceAll("\n", () => endOf([before, place, after]))
      assert.deepEqual(readFileSync(path), encode(bom + before + put + after, encoding), `${i} ${encoding}`)
      const kind = `${encoding} ${style}`
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }
  })
  assert.equal(seen.size, encodings.length * Object.keys(ends).length)
})

test("many edits in one call give what the same edits give one by one", async () => {
  const random = createRandom(7)
  await inProject(async (tmp) => {
    const lines = Array.from({ length: 300 }, (_, i) => `${i}: ${"x".repeat(random(40))} $& é\r\n`)
    const path = tmp.write("a.txt", lines.join(""))
    const changed = Array.from({ length: 50 }, (_, i) => i * 6 + random(6))
    const edits = changed.map((i) => ({ oldText: `\n${i}: `, newText: `\n$1 new\n${i}: ` }))
    const result = await call("edit", { path, edits: edits.slice(1) }, { slots: free })
    assert.equal(result.status, "success", result.text)
    for (const i of changed.slice(1)) lines[i] = `$1 new\r\n${lines[i]}`
    assert.equal(readFileSync(path, "utf8"), lines.join(""))
    assert.equal(result.title, "a.txt (+49 -0)")
  })
})
