// The index: words, vectors, both together, on disk and in memory.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createIndex } from "#knowledge/index/create-index.ts"
import type { Document, Index, SearchOptions } from "#knowledge/index/types.ts"
import { countingEmbedder } from "../../fixture/embedder/counting-embedder.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const tools: Document[] = [
  { id: "1", group: "fs", name: "read_text_file", text: "Show what is in it" },
  { id: "2", group: "tracker", name: "createIssue", text: "Opens a ticket in the tracker", more: "assignee" },
  { id: "3", group: "world", name: "weather", text: "Forecasts for the next days; reads no files" },
]
const find = async (index: Index, query: string, options: SearchOptions = {}) =>
  (await index.search(query, options)).map(({ id }) => id)

test("search() finds by name, description, parameters, other forms of a word and parts of a name", async () => {
  const index = createIndex()
  await index.put(tools)
  assert.deepEqual(await find(index, "read a file"), ["1", "3"])
  assert.deepEqual(await find(index, "opening tickets"), ["2"])
  assert.deepEqual(await find(index, "issue"), ["2"])
  assert.deepEqual(await find(index, "createIssue"), ["2"])
  assert.deepEqual(await find(index, "create-issue"), ["2"])
  assert.deepEqual(await find(index, "readtextfile"), ["1"])
  assert.deepEqual(await find(index, "assignee"), ["2"])
  assert.deepEqual(
    await find(index, "foreca"),
    ["3"],
    "the beginning of a word, where no whole word is found",
  )
  assert.deepEqual((await find(index, "the")).toSorted(), ["2", "3"], "nothing else was asked for")
  assert.deepEqual(await find(index, "xylophone"), [])
  index.close()
})

test("a document that was put again, removed, or whose group was removed is found no longer as it was", async () => {
  const index = createIndex()
  await index.put(tools)
  await index.put([{ ...tools[2]!, text: "Sun and rain" }])
  assert.deepEqual(await find(index, "forecast"), [])
  assert.deepEqual(await find(index, "rain"), ["3"])
  index.remove(["1", "nobody"])
  assert.deepEqual(await find(index, "file"), [])
  index.removeGroup("tracker")
  index.removeGroup("nobody")
  assert.deepEqual(index.ids(), ["3"])
  assert.equal(index.size(), 1)
  await index.put([tools[0]!, { ...tools[1]!, id: "1" }])
  assert.deepEqual(await find(index, "ticket file"), ["1"], "of equal ids the last counts")
  index.close()
})

test("search() keeps to a group and to a limit", async () => {
  const index = createIndex({ embedder: createEmbedder() })
  await index.put(tools)
  for (const mode of ["fused", "rrf", "text", "vector"] as const) {
    const options = { group: "world", mode }
    assert.deepEqual(await find(index, "read the forecast of tickets", options), ["3"], mode)
    assert.equal((await find(index, "read the forecast of tickets", { limit: 2, mode })).length, 2, mode)
    assert.equal(
      (await find(index, "read", { mode, limit: Number.POSITIVE_INFINITY })).length > 0,
      true,
      mode,
    )
    for (const limit of [0, -1, 0.5, Number.NaN])
      assert.deepEqual(await find(index, "read", { mode, limit }), [], `${mode} ${limit}`)
  }
  index.close()
})

test("words of every script are found, and emoji", async () => {
  const index = createIndex({ embedder: createEmbedder() })
  const texts: [string, string, string][] = [
    ["zh", "天气预报查询工具", "天气"],
    ["ja", "ファイルを読み込みます", "ファイル"],
    ["th", "ค้นหาไฟล์ในโครงการ", "ไฟล์"],
    ["ar", "بحث عن الملفات", "الملفات"],
    ["ru", "поиск файлов", "файлов"],
    ["hi", "हिन्दी में खोज", "हिन्दी"],
    ["emoji", "🚀deploy_now", "🚀"],
    ["accent", "Réservé aux abonnés", "reserve abonnes"],
    ["wide", "ｆｕｌｌｗｉｄｔｈ", "fullwidth"],
  ]
  await index.put(texts.map(([id, text]) => ({ id, group: "g", name: id, text })))
  for (const [id, , query] of texts) assert.equal((await find(index, query))[0], id, query)
  assert.equal((await find(index, "報")).length, 0)
  assert.equal((await find(index, "询"))[0], "zh", "one character")
  index.close()
})

test("vectors find what shares no word, and a hit says why", async () => {
  const index = createIndex({ embedder: createEmbedder() })
  await index.put([
    { id: "rain", group: "g", name: "weather", text: "Forecast of temperature and rain" },
    { id: "money", group: "g", name: "payments", text: "Send an invoice to a customer" },
    { id: "mail", group: "g", name: "mail", text: "Read your inbox" },
  ])
  assert.deepEqual(await find(index, "umbrella tomorrow, is it sunny", { mode: "text" }), [])
  const [first] = await index.search("umbrella tomorrow, is it sunny")
  assert.equal(first?.id, "rain")
  assert.equal(first.vector?.rank, 1)
  assert.equal(first.text, undefined)
  const [both] = await index.search("weather forecast")
  assert.equal(both?.text?.rank, 1)
  assert.ok(both.vector!.score > 0.4 && both.text!.score > 0)
  index.close()
})

test("a file keeps words and vectors: opened again, nothing is embedded again", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "deep/folder/index.db")
  const embedder = countingEmbedder("a", ["file", "ticket", "forecast"])
  const index = createIndex({ path, embedder })
  await index.put(tools)
  await index.put(tools)
  assert.equal(embedder.texts.length, 3, "unchanged ones are not embedded")
  index.close()

  const again = createIndex({ path, embedder })
  await again.put(tools)
  assert.deepEqual(await find(again, "ticket", { mode: "vector" }), ["2"])
  assert.equal(embedder.texts.length, 4, "only the query")
  await again.put([{ ...tools[0]!, text: "A forecast" }])
  assert.deepEqual((await find(again, "forecast", { mode: "vector" })).toSorted(), ["1", "3"])
  again.close()

  const words = createIndex({ path })
  assert.deepEqual(await find(words, "ticket"), ["2"], "without an embedder")
  words.close()
})

test("vectors are computed again for another embedder or other dimensions", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  const first = createIndex({ path, embedder: countingEmbedder("a", ["file", "ticket"]) })
  await first.put(tools)
  first.close()
  for (const embedder of [
    countingEmbedder("b", ["file", "ticket"]),
    countingEmbedder("a", ["file", "ticket", "forecast"]),
  ]) {
    const index = createIndex({ path, embedder })
    assert.deepEqual(await find(index, "ticket", { mode: "vector" }), ["2"])
    assert.equal(embedder.texts.length, 4, "three documents and the query")
    await find(index, "ticket")
    assert.equal(embedder.texts.length, 5)
    index.close()
  }
})

test("if the embedder fails, words are searched, and the next put() adds the missing vectors", async () => {
  let isDown = true
  const embedder = countingEmbedder("a", ["file", "ticket"], () => isDown)
  const index = createIndex({ embedder })
  await index.put(tools)
  assert.deepEqual(await find(index, "ticket"), ["2"])
  isDown = false
  await index.put(tools)
  assert.deepEqual(await find(index, "ticket", { mode: "vector" }), ["2"])
  index.close()
})

test("two indexes on one file see what the other puts and removes", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  const embedder = createEmbedder()
  const [one, two] = [createIndex({ path, embedder }), createIndex({ path, embedder })]
  await one.put(tools)
  assert.deepEqual((await find(two, "weather forecast"))[0], "3")
  await two.put([{ id: "4", group: "g", name: "storm", text: "Thunder and lightning" }])
  assert.equal((await find(one, "lightning strikes"))[0], "4")
  one.remove(["3"])
  await two.put([{ id: "5", group: "g", name: "cook", text: "Recipes for dinner" }])
  assert.ok(!(await find(two, "weather forecast")).includes("3"))
  assert.equal((await find(one, "recipe", { mode: "vector" }))[0], "5")
  assert.deepEqual(one.ids().toSorted(), two.ids().toSorted())
  one.close()
  two.close()
})
