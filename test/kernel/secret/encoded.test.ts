// Encoded secrets: base64, hex and URL encoding in the ways in which programs write them, in texts and in streams.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { test } from "node:test"
import { createRedactor, type Piece } from "#kernel/secret/redactor.ts"
import * as Secret from "#kernel/secret/secret.ts"

/** A value that no other test has, without an order in its characters. */
function randomText(seed: string, length: number): string {
  let text = ""
  while (text.length < length)
    text += createHash("sha512")
      .update(seed + text.length)
      .digest("base64")
  return text.slice(0, length)
}

const long = randomText("long", 221)
const short = "p4ss w/rd?ü"
const key = `-----BEGIN PRIVATE KEY-----\n${randomText("key", 320).match(/.{64}/g)!.join("\n")}\n-----END PRIVATE KEY-----\n`
for (const [name, value] of Object.entries({ long, short, key })) Secret.registerEncoded(value, name)

const base64 = (text: string) => Buffer.from(text).toString("base64")
const hex = (text: string) => Buffer.from(text).toString("hex")
const wrap = (text: string, width: number, end = "\n") => text.replace(RegExp(`.{${width}}`, "g"), `$&${end}`)
const pairs = (text: string, between: string) => text.match(/../g)!.join(between)
/** Every character escaped, as some libraries do. */
const percent = (text: string) => `%${pairs(hex(text), "%")}`

test("base64 of a secret is redacted at any width and offset, also inside of JSON and in base64url", () => {
  for (const [name, value] of Object.entries({ long, short }))
    for (const prefix of ["", "u", "us", "user:"]) {
      const text = base64(prefix + value)
      const wrapped = [8, 16, 19, 40, 64, 76].flatMap((width) => [
        wrap(text, width),
        wrap(text, width, "\r\n"),
      ])
      const nested = JSON.stringify(JSON.stringify(wrap(text, 64)))
      const url = Buffer.from(prefix + value).toString("base64url")
      const escaped = text.replaceAll("/", "\\/")
      for (const form of [text, url, nested, escaped, encodeURIComponent(text), ...wrapped]) {
        const redacted = Secret.redact(`> ${form} <`)
        assert.ok(redacted.includes(`[${name}]`), form)
        assert.ok(redacted.length < 40, redacted)
      }
    }
})

test("hex of a secret is redacted with colons, blanks, dashes or line breaks, and in either case", () => {
  for (const [name, value] of Object.entries({ long, short })) {
    const text = hex(value)
    const forms = [text, wrap(text, 60), `0x${pairs(text, ", 0x")}`, `\\x${pairs(text, "\\x")}`]
    const separated = [":", " ", "-", ":\n    "].map((between) => pairs(text, between))
    for (const form of [...forms, ...separated].flatMap((one) => [one, one.toUpperCase()]))
      assert.match(Secret.redact(`> ${form} <`), RegExp(`^> (0x|\\\\\\\\?x)?\\[${name}\\] <$`, "i"), form)
  }
})

test("URL encoding of a secret is redacted in either case, however many characters are escaped", () => {
  const forms = [
    encodeURIComponent(short),
    new URLSearchParams({ v: short }).toString().slice(2),
    percent(short),
  ]
  for (const form of forms.flatMap((one) => [one, one.replace(/%../g, (code) => code.toLowerCase())]))
    assert.equal(Secret.redact(`?a=${form}&b=100%`), "?a=[short]&b=100%", form)
})

test("lines of an encoded secret are redacted when each has something in front", () => {
  // A program that reads the value as a line encodes its line end too.
  const bytes = Buffer.from(`${long}\n`)
  for (const [encoding, width] of [
    ["hex", 60],
    ["base64", 40],
    ["base64", 64],
    ["base64", 76],
  ] as const)
    for (const line of wrap(bytes.toString(encoding), width).split("\n"))
      assert.match(Secret.redact(`> ${line}`), /^> \[long\].{0,4}$/, `${encoding} ${width}: ${line}`)
  const dump = bytes.toString("hex").match(/.{1,32}/g)!
  for (const [i, line] of dump.slice(0, -1).entries())
    assert.match(Secret.redact(`${i}0: ${line.match(/..../g)!.join(" ")}  |`), /\[long\] {2}\|$/)
})

test("what a secret has in common with other values is not redacted", () => {
  const other = `-----BEGIN PRIVATE KEY-----\n${randomText("other", 64)}\n-----END PRIVATE KEY-----\n`
  const texts = [other, base64(other), hex(other), base64(long.slice(0, 16)), hex(long.slice(20, 34))]
  for (const text of [...texts, long.slice(0, 60), base64(" ".repeat(60)), "%7B%22a%22%3A1%7D", "100%"])
    assert.equal(Secret.redact(text), text)
  assert.doesNotMatch(Secret.redact(wrap(base64(key), 64)), /[\w+/]{48}/)
})

test("createRedactor() finds an encoded secret wherever a chunk ends", () => {
  const forms = [
    base64(short),
    pairs(hex(short), ":"),
    percent(short),
    wrap(base64(long), 64),
    pairs(hex(short), " "),
  ]
  for (const form of forms)
    for (let cut = 0; cut <= form.length; cut++) {
      const redacted = stream(["> ", form.slice(0, cut), form.slice(cut), " <"])
      assert.match(redacted, /\[(short|long)\]/, `${form} cut at ${cut}: ${redacted}`)
      // After a separator up to seven digits may have been returned before the rest is there.
      assert.ok(redacted.length < 35, `${form} cut at ${cut}: ${redacted}`)
    }
  const bytes = wrap(base64(long), 64)
  assert.match(stream([...`> ${bytes}`]), /^> \[long\].?=*$/)
})

test("createRedactor() returns a line at once that ends with a digit", () => {
  const redactor = createRedactor()
  assert.equal(joined(redactor.write(Buffer.from("exit code 7\n"))), "exit code 7\n")
})

function stream(chunks: string[]): string {
  const redactor = createRedactor()
  const pieces = chunks.flatMap((chunk) => redactor.write(Buffer.from(chunk, "latin1")))
  return joined([...pieces, ...redactor.flush()])
}

function joined(pieces: Piece[]): string {
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()
}
