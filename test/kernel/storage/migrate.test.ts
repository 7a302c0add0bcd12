// Changes of the store's layout: in order, each once, recorded, resumable.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Storage from "#kernel/storage/storage.ts"
import { run } from "../../fixture/child.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

function recording(ran: number[], failing?: number) {
  return (version: number): Storage.Migration => ({
    version,
    name: `to ${version}`,
    run: async () => {
      if (version === failing) throw new Error(`migration ${version} failed`)
      ran.push(version)
    },
  })
}

test("Storage.migrate() runs pending migrations in order, each once, and records the version", async () => {
  await using store = await tmpStore()
  const ran: number[] = []
  assert.equal(await Storage.migrate([3, 1, 2].map(recording(ran))), 3)
  assert.deepEqual(ran, [1, 2, 3])
  assert.equal(readFileSync(store.file("meta", "version"), "utf8"), '{"version":3}')
  await Storage.close()
  assert.equal(await Storage.migrate([1, 2, 3].map(recording(ran))), 3)
  assert.equal(await Storage.migrate([1, 2, 3, 4].map(recording(ran))), 4)
  assert.deepEqual(ran, [1, 2, 3, 4])
})

test("Storage.migrate() has nothing to do in a new store", async () => {
  await using _ = await tmpStore()
  assert.equal(await Storage.migrate(), 0)
})

test("Storage.migrate() stops at a migration that fails, and the next start continues there", async () => {
  await using store = await tmpStore()
  const ran: number[] = []
  await assert.rejects(Storage.migrate([1, 2, 3].map(recording(ran, 2))), /migration 2 failed/)
  assert.deepEqual(ran, [1])
  assert.equal(readFileSync(store.file("meta", "version"), "utf8"), '{"version":1}')
  await Storage.close()
  assert.equal(await Storage.migrate([1, 2, 3].map(recording(ran))), 3)
  assert.deepEqual(ran, [1, 2, 3])
})

test("a migration can use the store, and sees the writes of earlier migrations", async () => {
  await using _ = await tmpStore()
  await Storage.write(["old", "k"], { n: 1 })
  const migrations: Storage.Migration[] = [
    {
      version: 1,
      name: "copy",
      run: async () => Storage.write(["new", "k"], await Storage.read(["old", "k"])),
    },
    { version: 2, name: "remove", run: () => Storage.remove(["old", "k"]) },
  ]
  assert.equal(await Storage.migrate(migrations), 2)
  assert.deepEqual(await Storage.read(["new", "k"]), { n: 1 })
  assert.deepEqual(await Storage.list(["old"]), [])
})

test("Storage.migrate() of four processes at once runs each migration once", async () => {
  await using tmp = await tmpdir()
  const log = join(tmp.path, "ran")
  const script = tmp.write(
    "migrate.mts",
    `import { appendFileSync } from "node:fs"
    import { setTimeout as sleep } from "node:timers/promises"
    import * as Storage from "${new URL("../../../src/kernel/storage/storage.ts", import.meta.url)}"
    const migrations = [1, 2, 3].map((version) => ({ version, name: "m", run: async () => {
      await sleep(30)
      appendFileSync(${JSON.stringify(log)}, version + "\\n")
    } }))
    console.log(await Storage.migrate(migrations))
    await Storage.close()`,
  )
  const children = [1, 2, 3, 4].map(() => run(process.execPath, [script], { env: tmp.env }))
  for (const child of children) {
    assert.equal(await child.exit, 0, child.errors())
    assert.deepEqual(child.lines, ["3"])
  }
  assert.equal(readFileSync(log, "utf8"), "1\n2\n3\n")
})
