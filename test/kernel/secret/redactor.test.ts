// Redaction of a stream: a secret is found wherever the chunks end.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createRedactor, type Piece } from "#kernel/secret/redactor.ts"
import * as Secret from "#kernel/secret/secret.ts"

function joined(pieces: Piece[]): string {
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()
}

function redacted(chunks: string[]): string {
  const redactor = createRedactor()
  const pieces = chunks.flatMap((chunk) => redactor.write(Buffer.from(chunk, "latin1")))
  return joined([...pieces, ...redactor.flush()])
}

test("createRedactor() finds a secret that is cut anywhere, also byte by byte and in two chunks inside a character", () => {
  Secret.register("stream-sécret-1", "one")
  const text = Buffer.from("a stream-sécret-1 and stream-sécret-1stream-sécret-1 stream-sécret-").toString(
    "latin1",
  )
  const wanted = "a [one] and [one][one] stream-sécret-"
  for (let cut = 0; cut <= text.length; cut++)
    assert.equal(redacted([text.slice(0, cut), text.slice(cut)]), wanted, `cut at ${cut}`)
  assert.equal(redacted([...text]), wanted)
})

test("createRedactor() redacts the longer of two secrets with the same start, even if its end comes in a later chunk", () => {
  Secret.register("prefix-key", "short")
  Secret.register("prefix-key-and-more", "long")
  assert.equal(redacted(["x prefix-key", "-and-more y"]), "x [long] y")
  assert.equal(redacted(["x prefix-key", "-and y"]), "x [short]-and y")
  assert.equal(redacted(["x prefix-key"]), "x [short]")
})

test("createRedactor() holds back only what may become a secret", () => {
  Secret.register("held-back-value", "value")
  const redactor = createRedactor()
  const write = (text: string) => joined(redactor.write(Buffer.from(text)))
  assert.equal(write("Password: "), "Password: ")
  assert.equal(write("held-"), "")
  assert.equal(write("off"), "held-off")
})

test("createRedactor() copies the bytes that it holds back", () => {
  Secret.register("reused-memory-1", "value")
  const redactor = createRedactor()
  const chunk = Buffer.from("x reused-")
  redactor.write(chunk)
  chunk.fill(0)
  assert.equal(joined(redactor.write(Buffer.from("memory-1"))), "[value]")
})

test("createRedactor() holds back a secret that has fewer characters than another, but more bytes", () => {
  Secret.register("üöäüöäüöäü", "letters")
  Secret.register("twelve-chars", "ascii")
  const bytes = Buffer.from("üöäüöäüöäü").toString("latin1")
  for (let cut = 0; cut <= bytes.length; cut++)
    assert.equal(redacted([bytes.slice(0, cut), bytes.slice(cut)]), "[letters]", `cut at ${cut}`)
})
