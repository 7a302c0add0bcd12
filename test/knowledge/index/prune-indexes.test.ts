// Which index files are removed, and when; never one that a process has open.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createIndex } from "#knowledge/index/create-index.ts"
import { noteIndexUse } from "#knowledge/index/note-index-use.ts"
import { pruneIndexes } from "#knowledge/index/prune-indexes.ts"
import { runFixture } from "../../fixture/child.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const document = { id: "a", group: "g", name: "a tool", text: "Does a thing" }

async function makeIndex(path: string): Promise<void> {
  for (const one of [path, `${path}-offers`]) {
    const index = createIndex({ path: one })
    await index.put([document])
    index.close()
  }
}

/** As if so many days had passed since. */
function age(path: string, days: number): void {
  const time = new Date(Date.now() - days * 86_400_000)
  utimesSync(path, time, time)
}

function places(tmp: Tmp): { folder: string; at(name: string): string; project(name: string): string } {
  const folder = join(tmp.path, "cache")
  return {
    folder,
    at: (name) => join(folder, name),
    project(name) {
      mkdirSync(join(tmp.path, name), { recursive: true })
      return join(tmp.path, name)
    },
  }
}

test("pruneIndexes() removes those of folders that are gone, and those that were not used for 60 days", async () => {
  await using tmp = await tmpdir()
  const { folder, at, project } = places(tmp)
  for (const name of ["gone.db", "old.db", "live.db", "rare.db", "nameless.db", "nameless-old.db"])
    await makeIndex(at(name))
  noteIndexUse(at("gone.db"), project("gone"))
  rmSync(join(tmp.path, "gone"), { recursive: true })
  for (const name of ["old", "live", "rare"]) noteIndexUse(at(`${name}.db`), project(name))
  age(at("old.db.used"), 61)
  age(at("rare.db.used"), 59)
  // A database that is only read stays as old as it is.
  age(at("live.db"), 100)
  age(at("nameless-old.db"), 61)
  writeFileSync(at("other.txt"), "not ours")
  writeFileSync(at("gone.db.aside"), "broken once")
  pruneIndexes(folder)
  assert.deepEqual(readdirSync(folder).sort(), [
    "live.db",
    "live.db-offers",
    "live.db.used",
    "nameless.db",
    "nameless.db-offers",
    "other.txt",
    "pruned",
    "rare.db",
    "rare.db-offers",
    "rare.db.used",
  ])
})

test("pruneIndexes() leaves what another process, or this one, has open", async () => {
  await using tmp = await tmpdir()
  const { folder, at } = places(tmp)
  for (const name of ["theirs.db", "ours.db"]) {
    await makeIndex(at(name))
    noteIndexUse(at(name), join(tmp.path, "never was"))
  }
  await using child = runFixture("index-writer.ts", { args: [at("theirs.db-offers"), "them", "endless"] })
  await child.line(/put/)
  const ours = createIndex({ path: at("ours.db") })
  pruneIndexes(folder)
  assert.equal(readdirSync(folder).filter((name) => name.startsWith("theirs.db")).length >= 3, true)
  assert.ok(existsSync(at("ours.db")))
  assert.deepEqual(ours.ids(), ["a"])
  ours.close()
  child.process.kill("SIGKILL")
  await child.exit
  rmSync(at("pruned"))
  pruneIndexes(folder)
  assert.deepEqual(readdirSync(folder), ["pruned"])
})

test("pruneIndexes() runs once a day, for a few files, and skips unreadable ones", async () => {
  await using tmp = await tmpdir()
  const { folder, at } = places(tmp)
  pruneIndexes(folder)
  mkdirSync(folder)
  for (let i = 0; i < 30; i++) {
    writeFileSync(at(`${i}.db`), i % 2 ? "" : "this is no database, and never was one")
    noteIndexUse(at(`${i}.db`), join(tmp.path, "never was"))
  }
  mkdirSync(at("folder.db"))
  noteIndexUse(at("folder.db"), join(tmp.path, "never was"))
  const count = () => readdirSync(folder).filter((name) => /^\d+\.db$/.test(name)).length
  pruneIndexes(folder)
  assert.equal(count(), 10)
  pruneIndexes(folder)
  assert.equal(count(), 10, "not twice in a day")
  age(at("pruned"), 2)
  pruneIndexes(folder)
  assert.equal(count(), 0)
  assert.ok(existsSync(at("folder.db")))
})

test("noteIndexUse() writes no more than once a day", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "x/y.db")
  noteIndexUse(path, "/one")
  noteIndexUse(path, "/two")
  assert.equal(readFileSync(`${path}.used`, "utf8"), "/one")
  age(`${path}.used`, 2)
  noteIndexUse(path, "/two")
  assert.equal(readFileSync(`${path}.used`, "utf8"), "/two")
})
