import assert from "node:assert/strict"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { change, sh } from "./harness.ts"

test("there are no snapshots of the home folder, nor of what is above it", async () => {
  for (const home of [".", "below"])
    await inTmp(async (tmp) => {
      process.env.HOME = join(tmp.path, home)
      mkdirSync(process.env.HOME, { recursive: true })
      assert.match((await Snapshot.offReason()) ?? "", /home/)
      const one = await change(["a.txt"], () => tmp.write("a.txt", "a"))
      const all = await change("worktree", () => sh("echo b > b.txt"))
      assert.deepEqual([one.part, all.part], [undefined, undefined])
      assert.equal(existsSync(join(Global.data(), "snapshot")), false)
    })
})

test("there are no snapshots of the root of the file system", async () => {
  await using _ = await tmpdir()
  try {
    await Instance.provide({
      directory: "/",
      fn: async () => assert.match((await Snapshot.offReason()) ?? "", /home/),
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
})

test("snapshot: false in the configuration turns them off, but not from a folder that nobody trusts", async () => {
  await inTmp(async (tmp) => {
    tmp.write(".vitamin/config.jsonc", '{ "snapshot": false }')
    assert.equal(await Snapshot.offReason(), undefined)
  })
  await inTmp(async (tmp) => {
    const file = join(Global.config(), "vitamin.jsonc")
    tmp.write(join("..", "config", "vitamin", "vitamin.jsonc"), '{ "snapshot": false }')
    assert.ok(existsSync(file))
    assert.match((await Snapshot.offReason()) ?? "", /configuration/)
    assert.equal((await change(["a.txt"], () => tmp.write("a.txt", "a"))).part, undefined)
  })
})

async function inTmp(fn: (tmp: Tmp) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir()
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}
