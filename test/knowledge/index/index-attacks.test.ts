// Broken and hostile index files, and hostile input.
import assert from "node:assert/strict"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import * as Log from "#kernel/process/log.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createIndex } from "#knowledge/index/create-index.ts"
import type { Document } from "#knowledge/index/types.ts"
import { runFixture } from "../../fixture/child.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const tool: Document = { id: "1", group: "g", name: "read_file", text: "Shows a file" }
const embedder = createEmbedder()

/** What the log says meanwhile. */
async function logOf(folder: string, work: () => Promise<void>): Promise<string> {
  const file = join(folder, "log.txt")
  writeFileSync(file, "")
  Log.setFile(file)
  try {
    await work()
  } finally {
    Log.setFile(undefined)
  }
  return readFileSync(file, "utf8")
}

async function works(path: string): Promise<void> {
  const index = createIndex({ path, embedder })
  await index.put([tool])
  assert.equal((await index.search("file"))[0]?.id, "1")
  assert.equal(index.size(), 1)
  index.close()
}

test("a file that is no database is quarantined, logged, and replaced", async () => {
  await using tmp = await tmpdir()
  const path = tmp.write("index.db", "no database at all ".repeat(500))
  const log = await logOf(tmp.path, () => works(path))
  assert.match(log, /is broken; it was quarantined/)
  assert.match(log, /index\.db\.aside/)
  assert.match(readFileSync(`${path}.aside`, "utf8"), /^no database/)
  assert.equal(await logOf(tmp.path, () => works(path)), "", "the new one is whole")
})

test("a database of an older format is quarantined, one of a newer is left alone", async () => {
  await using tmp = await tmpdir()
  const older = join(tmp.path, "older.db")
  let db = new DatabaseSync(older)
  db.exec("create table tools (name text)")
  db.close()
  assert.match(
    await logOf(tmp.path, () => works(older)),
    /has format 0, this program writes 1; it was quarantined/,
  )
  assert.ok(existsSync(`${older}.aside`))

  const newer = join(tmp.path, "newer.db")
  db = new DatabaseSync(newer)
  db.exec("create table future (name text); pragma user_version = 99")
  db.close()
  assert.match(await logOf(tmp.path, () => works(newer)), /its format is 99, this program knows 1/)
  assert.ok(!existsSync(`${newer}.aside`))
  db = new DatabaseSync(newer)
  assert.equal(db.prepare("pragma user_version").get()?.user_version, 99)
  db.close()
})

test("a file that breaks while open is replaced, and put() fills it again", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  const documents = Array.from({ length: 2_000 }, (_, at) => ({
    id: String(at),
    group: "g",
    name: `tool${at}`,
    text: `Number ${at} of many. ${"It does one more thing. ".repeat(10)}`,
  }))
  const before = createIndex({ path })
  await before.put(documents)
  before.close()
  const bytes = readFileSync(path)
  bytes.fill(0xff, 8_192)
  writeFileSync(path, bytes)
  const log = await logOf(tmp.path, async () => {
    const index = createIndex({ path })
    await index.put(documents)
    assert.equal(index.size(), 2_000)
    assert.equal((await index.search("tool77"))[0]?.id, "77")
    index.close()
  })
  assert.match(log, /quarantined/)
})

test("where no file can be made, the index is kept in memory", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write("plain", "x")
  const log = await logOf(tmp.path, () => works(join(file, "below/index.db")))
  assert.match(log, /kept in memory/)
  const folder = join(tmp.path, "index.db")
  tmp.write("index.db/inside", "the path is a folder")
  assert.match(await logOf(tmp.path, () => works(folder)), /kept in memory/)
})

test("a file that another process locks is read, and new documents are in memory", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  const index = createIndex({ path, embedder })
  await index.put([tool])
  const other = new DatabaseSync(path)
  other.exec("begin immediate")
  const log = await logOf(tmp.path, async () => {
    await index.put([{ id: "2", group: "g", name: "ticket", text: "Opens an issue" }])
    assert.deepEqual(index.ids(), ["1", "2"])
    assert.equal((await index.search("issue"))[0]?.id, "2")
    assert.equal((await index.search("show the file"))[0]?.id, "1")
  })
  assert.match(log, /continues in memory/)
  other.exec("rollback")
  other.close()
  index.close()
})

test("several processes begin and fill one file together, and one that is killed breaks nothing", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  await using endless = runFixture("index-writer.ts", { args: [path, "endless", "yes"] })
  await endless.line(/put/)
  endless.process.kill("SIGKILL")
  await endless.exit
  const writers = ["one", "two", "three"].map((name) => runFixture("index-writer.ts", { args: [path, name] }))
  for (const writer of writers) assert.equal(await writer.exit, 0, writer.errors())
  const index = createIndex({ path, embedder })
  const ids = index.ids()
  for (const name of ["endless", "one", "two", "three"])
    assert.ok(ids.filter((id) => id.startsWith(`${name}-`)).length >= 50, name)
  assert.equal((await index.search("tool 49 of two"))[0]?.id, "two-49")
  index.close()
})

test("operators, quotes and columns of FTS5 in a query are words", async () => {
  const index = createIndex({ embedder })
  await index.put([{ id: "2", group: "g", name: "near", text: 'a "quoted" AND NOT thing' }, tool])
  for (const query of [
    '"',
    '""""',
    "AND NOT",
    "near(",
    "NEAR(a b, 2)",
    "a* OR",
    "^thing",
    "name:near",
    "{name text}: near",
    "- near",
    "';--",
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "(((((",
    "x".repeat(1 << 20),
    "thing ".repeat(200_000),
    Array.from({ length: 100_000 }, (_, at) => `w${at}`).join(" "),
  ])
    await assert.doesNotReject(index.search(query), query.slice(0, 40))
  assert.equal((await index.search("'not' (thing", { mode: "text" }))[0]?.id, "2")
  index.close()
})

test("very long names, NULs and half characters are cut or removed", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "index.db")
  const odd: Document[] = [
    {
      id: "long",
      group: "g",
      name: "n".repeat(100_000),
      text: "x ".repeat(1 << 20),
      more: "m".repeat(100_000),
    },
    { id: "nul\0id", group: "g\0", name: "nul\0name", text: "before\0after" },
    { id: "half\ud800", group: "\udfff", name: "half\ud800name", text: "lone \udc00 surrogate" },
    { id: "", group: "", name: "", text: "" },
    { id: "'; drop table documents; --", group: "g", name: "quote'", text: "robert" },
  ]
  const index = createIndex({ path, embedder })
  await index.put(odd)
  await index.put(odd)
  assert.equal(index.size(), 5)
  assert.equal((await index.search("surrogate"))[0]?.id, "half\ufffd")
  assert.equal((await index.search("after"))[0]?.id, "nul\0id")
  assert.equal((await index.search("robert"))[0]?.id, "'; drop table documents; --")
  assert.equal((await index.search("n".repeat(100_000)))[0]?.id, "long")
  index.close()
  const again = createIndex({ path, embedder })
  assert.equal(again.size(), 5)
  assert.ok(again.ids().includes("nul\0id"))
  again.removeGroup("g")
  assert.equal(again.size(), 3)
  again.close()
})
