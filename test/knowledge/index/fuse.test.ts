// Merges the results by words and the results by vectors into one ranking.
import assert from "node:assert/strict"
import { test } from "node:test"
import { type Findings, fuse } from "#knowledge/index/fuse.ts"

const findings = (given: Partial<Findings>): Findings => ({
  text: [],
  vector: [],
  near: () => 0,
  nearWindow: () => 0,
  size: 1_000,
  ...given,
})
const rows = (given: Partial<Findings>, mode: "fused" | "rrf" | "text" | "vector" = "fused") =>
  fuse(findings(given), { mode }).map(({ row }) => row)

test("rrf adds one over sixty and the rank of each list", () => {
  const text = [7, 8, 9].map((row, at) => ({ row, score: 3 - at }))
  const vector = [9, 7].map((row, at) => ({ row, score: 0.9 - at / 10 }))
  const hits = fuse(findings({ text, vector }), { mode: "rrf" })
  assert.deepEqual(
    hits.map(({ row, score }) => [row, score]),
    [
      [7, 1 / 61 + 1 / 62],
      [9, 1 / 63 + 1 / 61],
      [8, 1 / 62],
    ],
  )
})

test('"fused" uses scores, which show differences that ranks hide', () => {
  const text = [1, 2].map((row, at) => ({ row, score: [5.1, 5][at]! }))
  const vector = [2, 1].map((row, at) => ({ row, score: [0.9, 0.2][at]! }))
  const near = (row: number) => (row === 2 ? 0.9 : 0.2)
  assert.deepEqual(rows({ text, vector, near, nearWindow: near }), [2, 1])
})

test('"fused" reranks the best hits by windows, and computes the cosine of text-only hits', () => {
  const vector = [1, 2].map((row) => ({ row, score: 0.5 }))
  assert.deepEqual(rows({ vector, nearWindow: (row) => (row === 2 ? 0.9 : 0.5) }), [2, 1])
  const text = [{ row: 3, score: 0.5 }]
  const near = (row: number) => (row === 3 ? 0.8 : 0.5)
  assert.deepEqual(rows({ text, vector, near, nearWindow: near }), [3, 1, 2])
})

test("a shared word weighs the same among three documents and among a hundred thousand", () => {
  const rarest = (size: number) => Math.log((size - 0.5) / 1.5)
  for (const size of [3, 100, 100_000]) {
    const text = [{ row: 1, score: rarest(size) }]
    const vector = [{ row: 2, score: 0.5 }]
    const near = (row: number) => (row === 2 ? 0.5 : 0.35)
    const [word, other] = fuse(findings({ text, vector, near, nearWindow: near, size }), {})
    assert.equal(other?.row, 1)
    assert.equal(word?.score, 0.75)
    assert.ok(Math.abs(other.score - (0.14 + 0.35 * 1.5)) < 1e-9, String(size))
  }
})

test("if only words or only vectors find something, those hits are returned up to the limit", () => {
  const text = [1, 2, 3].map((row) => ({ row, score: 10 - row }))
  assert.deepEqual(rows({ text }), [1, 2, 3])
  assert.deepEqual(rows({ vector: text }, "vector"), [1, 2, 3])
  assert.deepEqual(rows({}), [])
  assert.equal(fuse(findings({ text }), { limit: 2 }).length, 2)
})
