import assert from "node:assert/strict"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"

const make = (embedMany: (texts: string[]) => Promise<number[][]>) =>
  createEmbedder({ backend: "model", id: "some/model:3", dimensions: 3, embedMany })

test("a model embedder asks in batches, in order, and gives unit vectors", async () => {
  const asked: string[][] = []
  const embedder = make(async (texts) => {
    asked.push(texts)
    return texts.map((text) => [Number(text), 0, 4])
  })
  const texts = Array.from({ length: 200 }, (_, at) => (at === 7 ? " " : "3"))
  const vectors = await embedder.embedBatch(texts)
  assert.deepEqual(
    asked.map((batch) => batch.length),
    [96, 96, 7],
  )
  assert.deepEqual(vectors[7], new Float32Array(3))
  assert.deepEqual(vectors[199], Float32Array.of(0.6, 0, 0.8))
  assert.deepEqual(await embedder.embed("3"), Float32Array.of(0.6, 0, 0.8))
  assert.equal(embedder.embedNow, undefined)
  assert.deepEqual(await embedder.embedBatch([]), [])
})

test("a long text is cut before it is sent", async () => {
  let longest = 0
  const embedder = make(async (texts) => {
    longest = Math.max(longest, ...texts.map((text) => text.length))
    return texts.map(() => [1, 0, 0])
  })
  await embedder.embed("x".repeat(1_000_000))
  assert.equal(longest, 8_000)
})

test("answers that are not vectors of the right length are clear errors", async () => {
  const cases: [unknown, RegExp][] = [
    [[[1, 2]], /some\/model:3 gave no vectors: a vector has 2 numbers, 3 were expected/],
    [[[1, 2, Number.NaN]], /something that is no number/],
    [[], /1 texts were sent, 0 vectors came back/],
    [undefined, /0 vectors came back/],
    [[null], /a vector has 0 numbers/],
  ]
  for (const [answer, message] of cases)
    await assert.rejects(make(async () => answer as number[][]).embed("a"), {
      name: "Embedder.ModelFailed",
      message,
    })
  const failing = make(() => Promise.reject(new Error("quota is used up")))
  await assert.rejects(failing.embedBatch(["a", "b"]), /some\/model:3 gave no vectors: quota is used up/)
})
