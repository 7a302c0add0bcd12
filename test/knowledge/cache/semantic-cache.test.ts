import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { mock, test } from "node:test"
import { createSemanticCache } from "#knowledge/cache/semantic-cache.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { logged } from "../memory/logged.ts"

type Pair = [kind: string, a: string, b: string]
const pairs = (name: string): Pair[] =>
  readFileSync(new URL(`../../fixture/semantic-cache/${name}.tsv`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("\t") as Pair)

test("the same request is a cache hit, and the result says so", async () => {
  const cache = await createSemanticCache()
  assert.equal((await cache.lookup("list the files in src")).hit, false)
  await cache.store("list the files in src", "a.ts, b.ts")
  const { hit, match, entry, lookupMs } = await cache.lookup("  list the files in src\r\n")
  assert.deepEqual({ hit, match }, { hit: true, match: "exact" })
  assert.equal(entry?.response, "a.ts, b.ts")
  assert.equal(entry?.hitCount, 1)
  assert.ok(lookupMs >= 0)
})

test("a request that differs in politeness is a similar hit, another request is a miss", async () => {
  const cache = createSemanticCache()
  await cache.store("merge main into dev", "merged")
  const dressed = await cache.lookup("Could you please merge main into dev?")
  assert.equal(dressed.match, "similar")
  assert.ok(dressed.entry!.similarity > 0.99)
  const swapped = await cache.lookup("merge dev into main")
  assert.equal(swapped.hit, false)
  assert.equal((await cache.lookup("order a pizza")).hit, false)
  const { exactHits, similarHits, totalHits, totalMisses, hitRate } = cache.stats()
  assert.deepEqual(
    { exactHits, similarHits, totalHits, totalMisses },
    { exactHits: 0, similarHits: 1, totalHits: 1, totalMisses: 2 },
  )
  assert.equal(hitRate, 1 / 3)
})

test("300 pairs of nearly equal requests give no false cache hit, in either order", async () => {
  const near = pairs("near-misses")
  assert.ok(near.length >= 300)
  const replayed: string[] = []
  for (const [kind, a, b] of near)
    for (const [asked, then] of [
      [a, b],
      [b, a],
    ] as const) {
      // As lax as it can be set: the words alone must hold.
      const cache = createSemanticCache({ similarityThreshold: -1 })
      await cache.store(asked, "answer")
      if ((await cache.lookup(then)).hit) replayed.push(`${kind}: ${asked} | ${then}`)
    }
  assert.deepEqual(replayed, [])
})

test("an exact hit needs the same line ends and the same Unicode form", async () => {
  const asked = [
    "does this use CRLF: a\r\nb",
    "is \u00e9 one code point",
    "what sign is \u212a",
    "is \u037e a colon",
  ]
  const then = ["does this use CRLF: a\nb", "is e\u0301 one code point", "what sign is K", "is ; a colon"]
  const cache = createSemanticCache({ similarityThreshold: -1 })
  for (const query of asked) await cache.store(query, "answer")
  for (const query of then) assert.equal((await cache.lookup(query)).hit, false, JSON.stringify(query))
})

test("a difference in politeness is a hit, other words are a miss", async () => {
  const found: Record<string, number> = { surface: 0, deep: 0, "near-deep": 0 }
  for (const [kind, a, b] of pairs("paraphrases")) {
    const cache = createSemanticCache()
    await cache.store(a, "answer")
    if ((await cache.lookup(b)).hit) found[kind]!++
  }
  assert.deepEqual(found, { surface: 18, deep: 0, "near-deep": 0 })
})

test("an entry lives as long as its TTL", async () => {
  mock.timers.enable({ apis: ["Date"], now: 1_000_000 })
  try {
    const cache = createSemanticCache({ ttlMs: 1_000 })
    for (const query of ["first request", "second request"]) await cache.store(query, "x")
    mock.timers.tick(999)
    assert.equal((await cache.lookup("first request")).hit, true)
    await cache.store("third request", "x")
    mock.timers.tick(1)
    assert.equal((await cache.lookup("first request")).hit, false)
    assert.equal((await cache.lookup("third request")).hit, true)
    await cache.store("fourth request", "x")
    mock.timers.tick(999)
    assert.equal(cache.clearExpired(), 2)
    assert.equal(cache.clearExpired(), 0)
    assert.equal((await cache.lookup("fourth request")).hit, true)
  } finally {
    mock.timers.reset()
  }
})

test("a clock that goes back makes no entry live longer", async () => {
  mock.timers.enable({ apis: ["Date"], now: 10_000_000 })
  try {
    const cache = createSemanticCache({ ttlMs: 1_000 })
    await cache.store("first request", "x")
    mock.timers.setTime(5_000_000)
    assert.equal((await cache.lookup("first request")).hit, false)
  } finally {
    mock.timers.reset()
  }
})

test("an embedder that the cache was given outlives it", async () => {
  const made = createEmbedder()
  let closed = 0
  const embedder: Embedder = { ...made, close: async () => void closed++ }
  await createSemanticCache({ embedder }).close()
  assert.equal(closed, 0)
})

test("entries and bytes have a limit, and what was used last stays", async () => {
  const cache = createSemanticCache({ maxEntries: 3 })
  for (const query of ["one", "two", "three"]) await cache.store(query, query)
  await cache.lookup("one")
  await cache.store("four", "four")
  assert.equal((await cache.lookup("two")).hit, false)
  assert.equal((await cache.lookup("one")).hit, true)
  assert.equal(cache.stats().totalEntries, 3)
  const small = createSemanticCache({ maxBytes: 10_000 })
  for (let at = 0; at < 100; at++) await small.store(`request number ${at}`, "x".repeat(1_000))
  assert.ok(small.stats().bytes <= 10_000)
  assert.ok(small.stats().totalEntries >= 2)
  await small.store("too large", "x".repeat(100_000))
  assert.equal((await small.lookup("too large")).hit, false)
  assert.ok(small.stats().totalEntries >= 2)
  assert.equal((await small.lookup("request number 99")).hit, true)
})

test("if the embedder fails only the exact request hits; vectors are added when it works again", async () => {
  let isDown = true
  const inner = createEmbedder()
  const embedder: Embedder = {
    id: inner.id,
    dimensions: inner.dimensions,
    embed: inner.embed,
    close: inner.close,
    embedBatch: (texts) => (isDown ? Promise.reject(new Error("offline")) : inner.embedBatch(texts)),
  }
  const cache = createSemanticCache({ embedder })
  const log = await logged(async () => {
    await cache.store("run the tests", "ok")
    await cache.store("list the files", "ok")
    assert.equal((await cache.lookup("Please run the tests")).hit, false)
    assert.equal((await cache.lookup("run the tests")).match, "exact")
  })
  assert.equal(log.match(/continues without vectors/g)?.length, 1)
  isDown = false
  assert.equal((await cache.lookup("Please run the tests")).match, "similar")
  assert.equal((await cache.lookup("Please list the files")).match, "similar")
})

test("without an embedder, and for scripts that it does not know, only the exact request counts", async () => {
  const exact = createSemanticCache({ embedder: false })
  await exact.store("run the tests", "ok")
  assert.equal((await exact.lookup("run the tests")).match, "exact")
  assert.equal((await exact.lookup("Please run the tests")).hit, false)
  const cache = createSemanticCache()
  await cache.store("テストを実行", "ok")
  assert.equal((await cache.lookup("テストを実行")).match, "exact")
  assert.equal((await cache.lookup("ファイルを削除")).hit, false)
})

test("10 000 random operations agree with a plain Map", async () => {
  const cache = createSemanticCache({ maxEntries: 100_000, embedder: false })
  const model = new Map<string, string>()
  let state = 1
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % below
  }
  for (let step = 0; step < 10_000; step++) {
    const query = `request ${next(500)}`
    if (next(2)) {
      await cache.store(query, `${step}`)
      model.set(query, `${step}`)
    } else assert.equal((await cache.lookup(query)).entry?.response, model.get(query))
  }
  assert.equal(cache.stats().totalEntries, model.size)
})
