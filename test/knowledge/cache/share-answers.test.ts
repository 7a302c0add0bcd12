import assert from "node:assert/strict"
import { test } from "node:test"
import { createSemanticCache } from "#knowledge/cache/semantic-cache.ts"

test("getOrCompute() computes once, and again after a failure", async () => {
  const cache = createSemanticCache()
  let asked = 0
  const compute = async () => `answer ${++asked}`
  await assert.rejects(
    cache.getOrCompute("q one", () => Promise.reject(new Error("down"))),
    /down/,
  )
  assert.deepEqual(await cache.getOrCompute("q one", compute), { response: "answer 1", cached: false })
  assert.deepEqual(await cache.getOrCompute("q one", compute), { response: "answer 1", cached: true })
  await cache.store("q one", "newer")
  assert.equal((await cache.lookup("q one")).entry?.response, "newer")
  assert.equal(cache.stats().totalEntries, 1)
  cache.clear()
  assert.equal(cache.stats().totalEntries, 0)
  assert.equal(cache.stats().totalHits, 0)
})

test("getOrCompute() computes once for concurrent callers", async () => {
  for (const embedder of [false, undefined] as const) {
    const cache = createSemanticCache(embedder === false ? { embedder } : {})
    const { promise, resolve } = Promise.withResolvers<string>()
    let computed = 0
    const compute = () => {
      computed++
      return promise
    }
    const first = cache.getOrCompute("q one", compute)
    const others = [" q one\n", "q one", "q one"].map((query) => cache.getOrCompute(query, compute))
    const another = await cache.getOrCompute("q two", async () => "of its own")
    assert.deepEqual(another, { response: "of its own", cached: false })
    resolve("the answer")
    assert.deepEqual(await first, { response: "the answer", cached: false })
    for (const other of others) assert.deepEqual(await other, { response: "the answer", cached: true })
    assert.equal(computed, 1)
  }
})

test("getOrCompute() shares an answer that is too large to be kept", async () => {
  const cache = createSemanticCache({ embedder: false, maxBytes: 1 })
  const answers = await Promise.all([
    cache.getOrCompute("q", async () => "first"),
    cache.getOrCompute("q", async () => "second"),
  ])
  assert.deepEqual(
    answers.map(({ response }) => response),
    ["first", "first"],
  )
  assert.equal((await cache.getOrCompute("q", async () => "later")).response, "later")
})

test("a caller of getOrCompute() that fails does not fail the other callers", async () => {
  const cache = createSemanticCache()
  const stop = new AbortController()
  const until = (signal: AbortSignal) =>
    new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  let computed = 0
  const leaving = cache.getOrCompute("q", () => until(stop.signal))
  const staying = [1, 2].map(() => cache.getOrCompute("q", async () => `answer ${++computed}`))
  const failing = cache.getOrCompute("q", () => Promise.reject(new Error("not asked")))
  await cache.lookup("something else")
  stop.abort()
  await assert.rejects(leaving, { name: "AbortError" })
  assert.deepEqual(await Promise.all(staying), [
    { response: "answer 1", cached: false },
    { response: "answer 1", cached: true },
  ])
  assert.equal((await failing).response, "answer 1")
})
