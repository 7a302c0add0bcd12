// Manifests of servers that nobody uses any more are removed from the cache. Used ones, and files that are not ours,
// stay.
import assert from "node:assert/strict"
import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Manifest from "#ability/mcp/manifest.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

/** As if so many days had passed since. */
function age(path: string, days: number): void {
  const time = new Date(Date.now() - days * 86_400_000)
  utimesSync(path, time, time)
}

const nameOf = (n: number) => `${n.toString(16).padStart(40, "0")}.json`
const aside = "0a8e4c52-6d4b-4d1f-9a59-0d3f5b0e6c11"

test("Manifest.prune() removes manifests that were not used for 60 days, and no other files", async () => {
  await using tmp = await tmpdir()
  const folder = join(tmp.path, "mcp")
  await Manifest.prune(folder)
  mkdirSync(folder)
  const put = (name: string, days: number) => {
    writeFileSync(join(folder, name), "{}")
    age(join(folder, name), days)
  }
  put(nameOf(1), 61)
  put(nameOf(2), 59)
  put(`${nameOf(3)}.${aside}.tmp`, 61)
  for (const name of ["notes.json", `${nameOf(4)}.bak`, "abc.json"]) put(name, 61)
  mkdirSync(join(folder, nameOf(5)))
  age(join(folder, nameOf(5)), 61)
  writeFileSync(join(tmp.path, "elsewhere"), "")
  symlinkSync(join(tmp.path, "elsewhere"), join(folder, nameOf(6)))
  age(join(folder, nameOf(6)), 61)
  const stays = [nameOf(2), nameOf(5), nameOf(6), `${nameOf(4)}.bak`, "abc.json", "notes.json", "pruned"]
  await Manifest.prune(folder)
  assert.deepEqual(readdirSync(folder).sort(), stays.sort())
})

test("Manifest.prune() checks a bounded number of files, once a day", async () => {
  await using tmp = await tmpdir()
  const folder = join(tmp.path, "mcp")
  mkdirSync(folder)
  for (let n = 0; n < 1_100; n++) {
    writeFileSync(join(folder, nameOf(n)), "{}")
    age(join(folder, nameOf(n)), 61)
  }
  const count = () => readdirSync(folder).length - 1
  await Manifest.prune(folder)
  assert.equal(count(), 100)
  await Manifest.prune(folder)
  assert.equal(count(), 100, "not twice in a day")
  age(join(folder, "pruned"), 2)
  await Manifest.prune(folder)
  assert.equal(count(), 0)
})

test("an instance with servers prunes when it ends, and one that was read counts as used", async () => {
  await using tmp = await tmpdir()
  const server = { id: "x", name: "x", transport: "stdio" as const, command: ["x"] }
  const failed = Manifest.failed("it is not there", undefined)
  await Manifest.write(server, { ...failed, time: Date.now() - 2 * 86_400_000 })
  const [own] = readdirSync(Manifest.folder()).map((name) => join(Manifest.folder(), name))
  const old = join(Manifest.folder(), nameOf(1))
  writeFileSync(old, "{}")
  for (const path of [own!, old]) age(path, 61)
  assert.ok(Manifest.read(server))
  await until(() => Date.now() - statSync(own!).mtimeMs < 86_400_000, "its use is noted")
  try {
    await Instance.provide({ directory: tmp.path, fn: () => Mcp.list() })
  } finally {
    await Instance.disposeAll()
  }
  assert.deepEqual(readdirSync(Manifest.folder()).sort(), [own!.split("/").at(-1), "pruned"].sort())
})
