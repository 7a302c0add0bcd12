// A full disk, read-only folders, and a process without free file handles.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const notRoot = process.getuid?.() === 0 ? false : "needs root to mount a small file system"
const key = ["disk", "one"]

test("Storage keeps the old value on a full disk, and continues when there is space", {
  skip: notRoot,
}, async () => {
  await using tmp = await tmpdir()
  const disk = join(tmp.path, "disk")
  mkdirSync(disk)
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk])
  process.env.VITAMIN_DATA_DIR = join(disk, "data")
  try {
    await Storage.write(key, { value: "old" })
    const filler = join(disk, "filler")
    try {
      writeFileSync(filler, Buffer.alloc(8 << 20))
    } catch {
      // As full as it gets.
    }
    await assert.rejects(Storage.write(key, { value: "new", body: "x".repeat(60_000) }), (error) => {
      assert.ok(error instanceof Storage.WriteFailed)
      assert.match(
        error.message,
        /disk\/one could not be written: the disk is full \(ENOSPC\); the old value stays/,
      )
      return true
    })
    assert.deepEqual(await Storage.read(key), { value: "old" })
    await Storage.close()
    assert.deepEqual(await Storage.read(key), { value: "old" })
    rmSync(filler)
    await Storage.write(key, { value: "newer" })
    assert.deepEqual(JSON.parse(readFileSync(join(disk, "data/storage/disk/one.json"), "utf8")), {
      value: "newer",
    })
  } finally {
    await Storage.close()
    delete process.env.VITAMIN_DATA_DIR
    execFileSync("umount", [disk])
  }
})

test("Storage reads from a read-only folder and refuses to write there", { skip: notRoot }, async () => {
  await using tmp = await tmpdir()
  const disk = join(tmp.path, "disk")
  mkdirSync(disk)
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk])
  process.env.VITAMIN_DATA_DIR = join(disk, "data")
  try {
    await Storage.write(key, { value: "old" })
    await Storage.close()
    execFileSync("mount", ["-o", "remount,ro", disk])
    assert.deepEqual(await Storage.read(key), { value: "old" })
    await assert.rejects(Storage.write(key, { value: "new" }), /read-only/)
    assert.deepEqual(await Storage.read(key), { value: "old" })
    execFileSync("mount", ["-o", "remount,rw", disk])
    await Storage.write(key, { value: "new" })
    assert.deepEqual(await Storage.read(key), { value: "new" })
  } finally {
    await Storage.close()
    delete process.env.VITAMIN_DATA_DIR
    execFileSync("umount", [disk])
  }
})

test("Storage reports that no file handle is left, and continues when one is free", async () => {
  await using tmp = await tmpdir()
  const script = `
    import { openSync, closeSync } from "node:fs"
    import * as Storage from "${new URL("../../../src/kernel/storage/storage.ts", import.meta.url)}"
    await Storage.write(["disk", "one"], { value: "old" })
    const open = []
    try { for (;;) open.push(openSync("/dev/null", "r")) } catch {}
    await Storage.write(["disk", "one"], { value: "new" }).catch((error) => console.log(error.name, error.message))
    for (const fd of open) closeSync(fd)
    console.log((await Storage.read(["disk", "one"])).value)
    await Storage.write(["disk", "one"], { value: "newer" })
    console.log((await Storage.read(["disk", "one"])).value)
  `
  const file = tmp.write("handles.mts", script)
  const out = execFileSync("sh", ["-c", `ulimit -n 64; exec "${process.execPath}" "${file}"`], {
    encoding: "utf8",
    env: tmp.env,
  })
  assert.match(
    out,
    /^Storage.WriteFailed .*too many files open \(EMFILE\); the old value stays\nold\nnewer\n$/,
  )
})
