// Maps the cosines of another embedder to the scale of the embedded one, and adds the prefixes that models need.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { prefixesOf } from "#knowledge/embedder/types.ts"
import { calibrate } from "#knowledge/index/calibrate.ts"

/** The embedded model with all its vectors turned towards one direction, as those of many models are. */
function leaning(share: number) {
  const embedded = createEmbedder()
  const embedMany = async (texts: string[]) =>
    texts.map((text) => [
      ...embedded.embedNow!(text).map((value) => value * Math.sqrt(1 - share)),
      Math.sqrt(share),
    ])
  return createEmbedder({ backend: "model", id: "leaning", dimensions: 257, embedMany })
}

test("calibrate() maps high cosines to the scale of the embedded model", async () => {
  const [upright, scale] = [await calibrate(leaning(0)), await calibrate(leaning(0.6))]
  for (const cosine of [0, 0.2, 0.5, 0.8])
    assert.ok(Math.abs(scale(0.6 + 0.4 * cosine) - upright(cosine)) < 0.01, `of ${cosine}`)
})

test("calibrate() refuses an embedder that finds everything equally near", async () => {
  const embedMany = async (texts: string[]) => texts.map(() => [3, 4])
  const same = createEmbedder({ backend: "model", id: "same", dimensions: 2, embedMany })
  await assert.rejects(calibrate(same), /same puts a request no nearer to what it is about \(1\.00\) than/)
})

test("prefixesOf() knows models by their names and files", () => {
  assert.deepEqual(prefixesOf("embeddinggemma-300M-Q8_0.gguf"), {
    query: "task: search result | query: ",
    document: "title: none | text: ",
  })
  assert.equal(prefixesOf("ollama/nomic-embed-text:v1.5")?.query, "search_query: ")
  assert.equal(prefixesOf("lmstudio/multilingual-e5-large")?.document, "passage: ")
  assert.equal(prefixesOf("openai/text-embedding-3-small"), undefined)
})
