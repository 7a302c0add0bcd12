import assert from "node:assert/strict"
import { mock, test } from "node:test"
import { cacheSearches } from "#knowledge/cache/cache-searches.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createIndex } from "#knowledge/index/create-index.ts"
import type { Index } from "#knowledge/index/types.ts"

const document = (id: string, text: string) => ({ id, group: "g", name: id, text })

/** An index that counts how often it is really asked. */
function counted(index: Index): Index & { asked(): number } {
  let asked = 0
  const search: Index["search"] = (...given) => {
    asked++
    return index.search(...given)
  }
  return { ...index, search, asked: () => asked }
}

test("the same search is made once, in another dress as well, until the index changes", async () => {
  const embedder = createEmbedder()
  const inner = counted(createIndex({ embedder }))
  const index = cacheSearches(inner, embedder)
  await index.put([document("read_file", "read a file"), document("send_mail", "send a mail")])
  const first = await index.search("read the file", { limit: 3 })
  assert.equal(first[0]?.id, "read_file")
  assert.deepEqual(await index.search("read the file", { limit: 3 }), first)
  assert.deepEqual(await index.search("Could you please read the file?", { limit: 3 }), first)
  assert.equal(inner.asked(), 1)
  await index.search("read the file", { limit: 1 })
  assert.equal(inner.asked(), 2)
  await index.put([document("file_reader", "read the file and nothing else")])
  assert.ok((await index.search("read the file", { limit: 3 })).some(({ id }) => id === "file_reader"))
  index.removeGroup("g")
  assert.deepEqual(await index.search("read the file", { limit: 3 }), [])
  assert.equal(inner.asked(), 4)
  index.close()
})

test("a search that an index change overtakes is not remembered", async () => {
  const inner = createIndex()
  const gate = Promise.withResolvers<void>()
  const slow: Index = {
    ...inner,
    async search(...given) {
      const hits = await inner.search(...given)
      await gate.promise
      return hits
    },
  }
  const index = cacheSearches(slow)
  await index.put([document("read_file", "read a file")])
  const overtaken = index.search("read file")
  await new Promise((done) => setImmediate(done))
  index.remove(["read_file"])
  gate.resolve()
  assert.equal((await overtaken).length, 1)
  assert.equal((await index.search("read file")).length, 0)
  index.close()
})

test("what was found is searched again after half a minute", async () => {
  mock.timers.enable({ apis: ["Date"], now: Date.now() })
  try {
    const inner = counted(createIndex())
    const index = cacheSearches(inner)
    await index.put([document("read_file", "read a file")])
    for (const wait of [0, 29_000, 1_000, 0]) {
      mock.timers.tick(wait)
      await index.search("read file")
    }
    assert.equal(inner.asked(), 2)
    index.close()
  } finally {
    mock.timers.reset()
  }
})
