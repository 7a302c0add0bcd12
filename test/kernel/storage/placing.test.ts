// Writing records from the journal to their files: batches, files that cannot be written, and a sync that fails.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmdirSync } from "node:fs"
import { test } from "node:test"
import { headerBytes } from "#kernel/storage/journal.ts"
import { createWritten } from "#kernel/storage/journal-files.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("Storage.write() of many texts at once stores each one whole, of any length and alphabet", async () => {
  await using store = await tmpStore()
  const texts = ["a", "ü", "語", "🙂", '"\n'].flatMap((c) => [0, 1, 4_097, 90_000].map((n) => c.repeat(n)))
  for (const turn of ["first", "second"])
    await Promise.all(texts.map((text, i) => Storage.write(["text", `t${i}`], { turn, text })))
  for (const [i, text] of texts.entries())
    assert.equal(readFileSync(store.file("text", `t${i}`), "utf8"), JSON.stringify({ turn: "second", text }))
  await Storage.close()
  for (const [i, text] of texts.entries())
    assert.deepEqual(await Storage.read(["text", `t${i}`]), { turn: "second", text })
})

test("Storage: the last of several changes of a record in one batch counts, also a removal", async () => {
  await using store = await tmpStore()
  const add = (draft: { n: number }) => draft.n++
  const [kept, gone] = [
    ["one", "kept"],
    ["one", "gone"],
  ]
  await Promise.all([
    Storage.write(kept, { n: 1 }),
    Storage.write(gone, { n: 1 }),
    Storage.remove(kept),
    Storage.update(kept, add, { initial: { n: 5 } }),
    Storage.update(gone, add),
    Storage.remove(gone),
    Storage.update(kept, add),
  ])
  assert.equal(readFileSync(store.file(...kept), "utf8"), '{"n":7}')
  await assert.rejects(Storage.read(gone), Storage.NotFound)
  await Storage.close()
  assert.deepEqual(await Storage.list(["one"]), ["kept"])
})

test("Storage rejects only the changes of a batch whose file cannot be written", async () => {
  await using store = await tmpStore()
  const [stuck, free] = [
    ["batch", "stuck"],
    ["batch", "free"],
  ]
  mkdirSync(store.file(...stuck), { recursive: true })
  const results = await Promise.allSettled([
    Storage.write(stuck, 1),
    Storage.write(free, 1),
    Storage.write(stuck, 2),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "rejected"],
  )
  rmdirSync(store.file(...stuck))
  await Storage.close()
  await assert.rejects(Storage.read(stuck), Storage.NotFound)
  assert.equal(await Storage.read(free), 1)
  await Storage.write(stuck, 3)
  assert.equal(await Storage.read(stuck), 3)
})

test("Storage keeps the old value and no trace of the new one when the disk fails to sync", async () => {
  await using tmp = await tmpdir()
  const script = `
    import fs from "node:fs"
    import { syncBuiltinESMExports } from "node:module"
    import * as Storage from "${new URL("../../../src/kernel/storage/storage.ts", import.meta.url)}"
    const key = ["disk", "one"]
    const { fdatasync } = fs
    const show = () => console.log(fs.readFileSync(process.env.VITAMIN_DATA_DIR + "/storage/disk/one.json", "utf8"))
    const fail = (fd, done) => setTimeout(done, 1, Object.assign(new Error("EIO"), { code: "EIO", syscall: "fdatasync" }))
    const use = (sync) => { fs.fdatasync = sync; syncBuiltinESMExports() }
    await Storage.write(key, "old")
    use(fail)
    await Storage.write(key, "new").catch((error) => console.log(error.message))
    use(fdatasync)
    show()
    console.log(fs.readdirSync(process.env.VITAMIN_DATA_DIR + "/storage/.tmp").length)
    await Storage.close()
    console.log(await Storage.read(key))
    await Storage.write(key, "newer")
    show()
  `
  const env = { ...tmp.env, VITAMIN_DATA_DIR: `${tmp.path}/data` }
  const out = execFileSync(process.execPath, [tmp.write("sync.mts", script)], { encoding: "utf8", env })
  assert.match(out, /^Record disk\/one could not be written: .*\(EIO\); the old value stays\n/)
  assert.deepEqual(out.trim().split("\n").slice(1), ['"old"', "0", "old", '"newer"'])
})

test("createWritten() knows the records of a generation only while no other process writes to it", () => {
  const written = createWritten()
  const state = (generation: number, end: number) => ({ generation, end, records: 0, checkpoint: 0 })
  const commit = (path: string, from: ReturnType<typeof state>, end: number) => {
    written.begin(from)
    written.add(path)
    written.end({ ...from, end })
  }
  commit("a", state(1, 500), 600)
  assert.equal(written.recordsOf(1), undefined, "what was there before is not known")
  commit("b", state(2, headerBytes), 100)
  commit("c", state(2, 100), 200)
  assert.deepEqual([...written.recordsOf(2)!], ["b", "c"])
  assert.equal(written.recordsOf(1), undefined)
  commit("d", state(2, 250), 300)
  commit("e", state(2, 300), 400)
  assert.equal(written.recordsOf(2), undefined, "somebody wrote between 200 and 250")
  commit("f", state(3, headerBytes), 100)
  assert.deepEqual([...written.recordsOf(3)!], ["f"])
  commit("g", state(4, 100), 200)
  assert.equal(written.recordsOf(4), undefined, "somebody else began it")
})
