// Records of the machine beside those of a database.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { test } from "node:test"
import * as RecordFiles from "#kernel/storage/record-files.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"

test("files of shared records that a machine had before are not mixed with those of a database", {
  skip: noPostgres,
  timeout: 60_000,
}, async () => {
  await using store = await tmpStore("PostgreSQL")
  await RecordFiles.write(["session", "p", "old"], { n: 1 })
  await RecordFiles.write(["project", "old"], { n: 1 })
  await Storage.write(["trust", "x"], { n: 1 })
  await store.lay([
    [["session", "p", "new"], '{"n":2}'],
    [["session", "p", "broken"], "{"],
  ])
  for (const key of [
    ["session", "p", "torn"],
    ["trust", "torn"],
  ]) {
    mkdirSync(dirname(store.file(...key)), { recursive: true })
    writeFileSync(store.file(...key), "{")
    await assert.rejects(RecordFiles.read(key), { name: "Storage.Corrupt" })
  }
  await assert.rejects(Storage.read(["session", "p", "broken"]), { name: "Storage.Corrupt" })

  assert.deepEqual(await Storage.list([]), ["session", "trust"])
  assert.deepEqual(await Storage.list(["session", "p"]), ["new"])
  assert.deepEqual(await Storage.check(), { records: 2, broken: [] })
  const kept = (await Storage.quarantined([])).map(({ key }) => key.join("/"))
  assert.deepEqual(kept.sort(), ["session/p/broken", "trust/torn"])
})
