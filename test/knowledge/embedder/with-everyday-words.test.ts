// The embedded model beside the vectors of everyday words.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { withEverydayWords } from "#knowledge/embedder/with-everyday-words.ts"

const narrow = createEmbedder()
const wide = withEverydayWords(narrow)

test("withEverydayWords() adds words behind the pieces of the embedded model, and no stop words", () => {
  const text = "The ferry's HarbourMaster, in\n the café"
  const pieces = wide.pieces!.of(text)
  assert.deepEqual(
    pieces.filter((piece) => piece > 0),
    narrow.pieces!.of(text),
  )
  const few = ["ferry", "café", "unheardofness", "the"].map(
    (one) => wide.pieces!.of(one).filter((piece) => piece < 0).length,
  )
  assert.deepEqual(few, [1, 1, 0, 0])
})

test("withEverydayWords() gives vectors of unit length, which begin with the embedded model's direction", async () => {
  const [own, other] = [await wide.embed("ferry"), await narrow.embed("ferry")]
  assert.equal(own.length, narrow.dimensions + 100)
  assert.ok(Math.abs(Math.hypot(...own) - 1) < 1e-5)
  const ratio = own[0]! / other[0]!
  for (let at = 0; at < other.length; at++) assert.ok(Math.abs(own[at]! - ratio * other[at]!) < 1e-5)
  assert.ok((await wide.embed("的")).every((value) => value === 0))
})

test("withEverydayWords() returns other embedders as they are", () => {
  const other = { ...narrow, id: "other" }
  assert.equal(withEverydayWords(other), other)
})
