import assert from "node:assert/strict"
import { mock, test } from "node:test"
import { createSemanticCache, type SerializableCacheEntry } from "#knowledge/cache/semantic-cache.ts"
import { logged } from "./logged.ts"

test("persisted entries can be loaded again, with vectors and counts", async () => {
  let kept: SerializableCacheEntry[] = []
  const first = createSemanticCache({
    onPersist: (entries) => {
      kept = entries
    },
  })
  await first.store("merge main into dev", "merged")
  await first.lookup("merge main into dev")
  await first.persist()
  assert.deepEqual(
    kept.map(({ id, query, response, hitCount, embedder }) => ({ id, query, response, hitCount, embedder })),
    [
      {
        id: 1,
        query: "merge main into dev",
        response: "merged",
        hitCount: 1,
        embedder: "vitamin-embedded-1",
      },
    ],
  )
  assert.equal(kept[0]!.embedding.length, 256)
  const second = createSemanticCache({ initialEntries: JSON.parse(JSON.stringify(kept)) })
  assert.equal((await second.lookup("Please merge main into dev")).match, "similar")
  assert.equal((await second.lookup("merge main into dev")).entry?.hitCount, 3)
})

test("entries of another dimension or another embedder are embedded again", async () => {
  const entry = { response: "r", cachedAt: Date.now(), hitCount: 0 }
  const initialEntries = [
    { ...entry, id: 1, query: "list the files", embedding: [1, 0, 0] },
    { ...entry, id: 2, query: "run the tests", embedding: new Array(256).fill(0.0625), embedder: "another" },
    { ...entry, id: 3, query: "read the file", embedding: [] },
  ]
  const cache = createSemanticCache({ initialEntries })
  for (const { query } of initialEntries)
    assert.equal((await cache.lookup(`Could you please ${query}?`)).match, "similar")
  assert.equal(cache.stats().totalEntries, 3)
})

test("broken initial entries are named and left out, the others are used", async () => {
  const good = {
    id: 7,
    query: "run the tests",
    response: "r",
    cachedAt: Date.now() + 1e12,
    hitCount: -4,
    embedding: [],
  }
  const initialEntries = [
    null,
    "text",
    { ...good, query: 3 },
    { ...good, response: undefined },
    { ...good, cachedAt: Number.NaN },
    { ...good, query: "an old one", cachedAt: 5 },
    good,
    { ...good, query: "list the files", embedding: ["x"] },
  ] as never
  let cache = createSemanticCache()
  const log = await logged(() => {
    cache = createSemanticCache({ initialEntries })
  })
  assert.match(log, /left out.*count=5|left out.*5/)
  assert.match(log, /entry 2: query Invalid input: expected string/)
  assert.equal(cache.stats().totalEntries, 2)
  for (const query of ["run the tests", "list the files"]) assert.equal((await cache.lookup(query)).hit, true)
  for (const wrong of [{}, "[]", 3])
    assert.throws(
      () => createSemanticCache({ initialEntries: wrong as never }),
      /initialEntries must be a list/,
    )
})

test("a failing persist callback is reported, and nothing is lost", async () => {
  let isBroken = true
  let kept: SerializableCacheEntry[] = []
  const onPersist = (entries: SerializableCacheEntry[]) => {
    if (isBroken) throw new Error("disk is full")
    kept = entries
  }
  const cache = createSemanticCache({ onPersist })
  await cache.store("run the tests", "ok")
  await assert.rejects(cache.persist(), {
    name: "Memory.PersistFailed",
    message: /could not be persisted: disk is full\. Nothing of it is lost/,
  })
  assert.equal((await cache.lookup("run the tests")).hit, true)
  isBroken = false
  await cache.persist()
  assert.equal(kept.length, 1)
})

test("a persist callback that hangs is given up, and never runs twice at once", async () => {
  const opened = Promise.withResolvers<void>()
  let calls = 0
  const onPersist = () => (++calls === 1 ? opened.promise : Promise.resolve())
  const cache = createSemanticCache({ onPersist, autoPersist: true })
  mock.timers.enable({ apis: ["setTimeout"] })
  try {
    const log = await logged(async () => {
      for (let at = 0; at < 50; at++) await cache.store(`request ${at}`, "x")
      const late = assert.rejects(cache.persist(), /onPersist has not ended after 30 s/)
      await new Promise((done) => setImmediate(done))
      mock.timers.tick(30_000)
      await late
    })
    assert.match(log, /could not be persisted/)
  } finally {
    mock.timers.reset()
  }
  assert.equal(calls, 1)
  assert.equal(cache.stats().totalEntries, 50)
  opened.resolve()
  await cache.persist()
  assert.ok(calls >= 2)
  await cache.close()
  assert.equal(cache.stats().totalEntries, 0)
})

test("changes while it is being persisted are persisted once more, not fifty times", async () => {
  const sizes: number[] = []
  const cache = createSemanticCache({
    autoPersist: true,
    onPersist: async (entries) => {
      await new Promise((done) => setImmediate(done))
      sizes.push(entries.length)
    },
  })
  await Promise.all(Array.from({ length: 50 }, (_, at) => cache.store(`request ${at}`, "x")))
  await cache.persist()
  assert.equal(sizes.at(-1), 50)
  assert.ok(sizes.length <= 3, `${sizes}`)
})
