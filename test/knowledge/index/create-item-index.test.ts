// Items of any kind in an index: filtered, in a file that several processes use, closed during work.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createIndex } from "#knowledge/index/create-index.ts"
import { createItemIndex } from "#knowledge/index/create-item-index.ts"
import type { Document } from "#knowledge/index/types.ts"
import { countingEmbedder } from "../../fixture/embedder/counting-embedder.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

type Thing = { name: string; place: string; color?: string }

function documentOf({ name, place }: Thing): Document {
  return { id: `${place}/${name}`, group: place, name, text: `A ${name} to be found` }
}

const names = (matches: { item: Thing }[]) => matches.map(({ item }) => item.name)

test("search() returns only accepted items of a group, even if many others rank higher", async () => {
  const things = createItemIndex(documentOf)
  for (let i = 0; i < 200; i++) things.put({ name: "lamp lamp", place: `room ${i}`, color: "red" })
  things.put({ name: "one lamp among others", place: "room 7", color: "blue" })
  const accepts = ({ color }: Thing) => color === "blue"
  const wanted = ["one lamp among others"]
  assert.deepEqual(names(await things.search("lamp", { limit: 1 })), ["lamp lamp"])
  assert.deepEqual(names(await things.search("lamp", { limit: 1, accepts })), wanted)
  assert.deepEqual(names(await things.search("lamp", { limit: 1, accepts, group: "room 7" })), wanted)
  assert.deepEqual(await things.search("lamp", { accepts, group: "room 8" }), [])
  assert.equal((await things.search("lamp", { group: "room 7" })).length, 2)
  things.remove(({ place }) => place === "room 7")
  assert.deepEqual(await things.search("lamp", { accepts }), [])
  assert.equal(things.items().length, 199)
  things.close()
})

test("an item that is put again is replaced, and indexed again only if its document changed", async () => {
  const embedder = countingEmbedder("a", ["lamp", "door"])
  const things = createItemIndex(documentOf, { embedder })
  things.put({ name: "lamp", place: "hall" })
  await things.update()
  things.put({ name: "lamp", place: "hall", color: "green" })
  await things.update()
  assert.equal(embedder.texts.length, 1)
  assert.equal((await things.search("lamp"))[0]?.item.color, "green")
  things.close()
})

test("two indexes on one file do not see each other's items, and restore removed ones", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "things.db")
  const one = createItemIndex(documentOf, { path })
  const other = createItemIndex(documentOf, { path })
  one.put({ name: "lamp", place: "hall" })
  assert.deepEqual(names(await one.search("a lamp")), ["lamp"])
  for (let i = 0; i < 20; i++) other.put({ name: `lamp ${i}`, place: "cellar" })
  assert.equal((await other.search("a lamp", { limit: 1 }))[0]?.item.place, "cellar")
  assert.deepEqual(names(await one.search("the lamp", { limit: 1 })), ["lamp"])
  one.close()
  other.close()
})

test("removed items, and those of an earlier process, leave the file at the next search", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "things.db")
  const before = createItemIndex(documentOf, { path })
  before.put({ name: "lamp", place: "attic" })
  await before.update()
  before.close()
  const things = createItemIndex(documentOf, { path })
  things.put({ name: "lamp", place: "hall" })
  things.put({ name: "door", place: "hall" })
  await things.search("lamp")
  things.remove(({ name }) => name === "door")
  await things.search("lamp")
  things.close()
  const file = createIndex({ path })
  assert.deepEqual(file.ids(), ["hall/lamp"])
  file.close()
})

test("a search during close() finds nothing and opens no file", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "things.db")
  const things = createItemIndex(documentOf, { path })
  things.put({ name: "lamp", place: "hall" })
  const early = things.search("lamp")
  things.close()
  assert.deepEqual(await early, [])
  assert.deepEqual(await things.search("lamp"), [])
  assert.equal(existsSync(path), false)

  const { promise: isAsked, resolve: tell } = Promise.withResolvers<void>()
  const { promise: goOn, resolve: release } = Promise.withResolvers<void>()
  const embedder = countingEmbedder("a", ["lamp"])
  const embedBatch = async (texts: readonly string[]) => {
    tell()
    await goOn
    return embedder.embedBatch(texts)
  }
  const slow = createItemIndex(documentOf, { path, embedder: { ...embedder, embedBatch } })
  slow.put({ name: "lamp", place: "hall" })
  const late = slow.search("lamp")
  await isAsked
  slow.close()
  release()
  assert.deepEqual(await late, [])
})
