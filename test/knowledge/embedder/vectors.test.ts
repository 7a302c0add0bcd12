import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createDotProducts } from "#knowledge/embedder/dot-products.ts"
import { wasm } from "#knowledge/embedder/dot-products-wasm.ts"
import { createVectors } from "#knowledge/embedder/vectors.ts"
import { assemble } from "../../../script/dot-products.ts"
import { createRandom } from "../../fixture/random.ts"

const below = createRandom(8)
const random = () => below(2 ** 32) / 2 ** 32
const unit = (dimensions: number): Float32Array => {
  const values = Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5)
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}
const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

test("the WebAssembly that ships is what the script assembles, and this machine runs it", () => {
  assert.deepEqual(Buffer.from(wasm, "base64"), Buffer.from(assemble()))
  assert.equal(createDotProducts().kind, "wasm")
})

test("WebAssembly and plain JavaScript give the same bits, near the true cosines", () => {
  for (const dimensions of [1, 16, 100, 256, 384, 3_072]) {
    const fast = createVectors(dimensions)
    const plain = createVectors(dimensions, { kind: "javascript" })
    const rows = Array.from({ length: 1_100 }, () => unit(dimensions))
    for (const [slot, row] of rows.entries()) {
      fast.put(slot, row)
      plain.put(slot, row)
    }
    const query = unit(dimensions)
    const scores = fast.scores(query)
    assert.deepEqual(scores, plain.scores(query))
    for (const [slot, row] of rows.entries()) assert.ok(Math.abs(scores[slot]! - dot(row, query)) < 0.02)
  }
})

test("a sum of products never leaves its 32 bits", () => {
  for (const dimensions of [256, 516, 4_096]) {
    const same = new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions))
    const vectors = createVectors(dimensions)
    vectors.put(0, same)
    vectors.put(
      1,
      same.map((value) => -value),
    )
    const [positive, negative] = vectors.scores(same)
    assert.ok(Math.abs(positive! - 1) < 1e-3 && Math.abs(negative! + 1) < 1e-3, `${positive} ${negative}`)
  }
})

test("scores of texts are close enough to rank by", () => {
  const embedNow = createEmbedder().embedNow!
  const words =
    "read write a file search the web delete issue create branch list user send mail run tests".split(" ")
  const some = () =>
    Array.from(
      { length: 3 + Math.floor(random() * 9) },
      () => words[Math.floor(random() * words.length)],
    ).join(" ")
  const rows = Array.from({ length: 2_000 }, () => embedNow(some()))
  const vectors = createVectors(256)
  for (const [slot, row] of rows.entries()) vectors.put(slot, row)
  const query = embedNow("search files")
  const off = [...vectors.scores(query)].map((score, slot) => Math.abs(score - dot(rows[slot]!, query)))
  assert.ok(Math.max(...off) < 0.005, `${Math.max(...off)}`)
})

test("put() replaces, remove() empties, and scores() gives 0 for what is empty", () => {
  const vectors = createVectors(4)
  const axis = (at: number, value = 1) =>
    Float32Array.from({ length: 4 }, (_, index) => (index === at ? value : 0))
  const scores = () => Object.fromEntries([...vectors.scores(axis(0))].map(Math.round).entries())
  assert.deepEqual(scores(), {})
  vectors.put(2_500, axis(0))
  vectors.put(3, axis(1))
  vectors.put(4, axis(0))
  vectors.put(5, axis(0, -1))
  vectors.put(6, axis(0, 0))
  assert.deepEqual(
    [3, 4, 5, 6, 2_500].map((slot) => scores()[slot]),
    [0, 1, -1, 0, 1],
  )
  vectors.remove(4)
  vectors.remove(9_999)
  vectors.put(5, axis(2))
  assert.deepEqual(
    [4, 5, 2_500].map((slot) => scores()[slot]),
    [0, 0, 1],
  )
  assert.equal(vectors.scores(axis(0)).length, 2_501)
  assert.ok(vectors.scores(axis(0, 0)).every((score) => score === 0))
})

test("vectors of another length are refused, and invalid numbers count as zero", () => {
  const vectors = createVectors(256)
  const refused = {
    name: "Vectors.WrongDimensions",
    message: /has 384 numbers; this table holds vectors of 256/,
  }
  assert.throws(() => vectors.put(0, new Float32Array(384)), refused)
  assert.throws(() => vectors.scores(new Float32Array(384)), refused)
  assert.throws(() => vectors.put(-1, new Float32Array(256)), /slot -1/)
  vectors.put(0, new Float32Array(256).fill(Number.NaN))
  vectors.put(1, new Float32Array(256).fill(Number.POSITIVE_INFINITY))
  assert.deepEqual(vectors.scores(unit(256)), new Float32Array(2))
})

test("get() returns a rounded vector", () => {
  const vectors = createVectors(100)
  const row = unit(100)
  vectors.put(5, row)
  const largest = Math.max(...row.map(Math.abs))
  for (const [at, value] of vectors.get(5).entries())
    assert.ok(Math.abs(value - row[at]!) <= (largest / 127) * 0.501)
  vectors.remove(5)
  for (const slot of [0, 5, 6]) assert.deepEqual(vectors.get(slot), new Float32Array(100))
})

test("a Node without WebAssembly compares all the same", () => {
  // What strips the types of a file is WebAssembly itself, so it goes after the first.
  const file = (name: string) => JSON.stringify(new URL(`../../../src/${name}`, import.meta.url).href)
  const script = `
    await import(${file("util/error.ts")})
    globalThis.WebAssembly = undefined
    const { createDotProducts } = await import(${file("knowledge/embedder/dot-products.ts")})
    const { createVectors } = await import(${file("knowledge/embedder/vectors.ts")})
    const vectors = createVectors(2)
    for (let slot = 0; slot < 3000; slot++) vectors.put(slot, Float32Array.of(slot / 3000, 1))
    console.log(createDotProducts().kind, vectors.scores(Float32Array.of(1, 0))[2999] > 0.7)`
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })
  assert.equal(printed, "javascript true\n")
})

test("a row takes little more memory than its numbers", () => {
  const vectors = createVectors(256)
  const row = unit(256)
  for (let slot = 0; slot < 10_000; slot++) vectors.put(slot, row)
  assert.ok(vectors.bytes() < 10_240 * 260 + 131_072)
})
