// Trust is given by a person, for one work tree, and cannot be borrowed.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

afterEach(() => Storage.close())

test("Trust.grant() is kept, for the whole work tree and from any folder of it", async () => {
  await using tmp = await tmpdir({ git: true })
  const sub = join(tmp.path, "src/deep")
  mkdirSync(sub, { recursive: true })
  assert.equal(await Trust.check(tmp.path), false)
  assert.equal(await Trust.grant(sub), tmp.path)
  await Storage.close()
  assert.equal(await Trust.check(tmp.path), true)
  assert.equal(await Trust.check(sub), true)
})

test("Trust.grant() for this process is not kept", async () => {
  await using tmp = await tmpdir({ git: true })
  await Trust.grant(tmp.path, { keep: false })
  assert.equal(await Trust.check(tmp.path), true)
  assert.deepEqual(await Trust.list(), [])
  await Trust.remove(tmp.path)
  assert.equal(await Trust.check(tmp.path), false)
})

test("Trust.remove() takes trust back, also where there was none", async () => {
  await using tmp = await tmpdir({ git: true })
  assert.equal(await Trust.remove(tmp.path), tmp.path)
  await Trust.grant(tmp.path)
  await Trust.grant(tmp.path, { keep: false })
  await Trust.remove(tmp.path)
  assert.equal(await Trust.check(tmp.path), false)
})

test("Trust.list() names what is trusted and since when", async () => {
  await using tmp = await tmpdir()
  const [a, b] = [join(tmp.path, "a"), join(tmp.path, "b")]
  const before = Date.now()
  for (const folder of [a, b]) {
    mkdirSync(folder)
    await Trust.grant(folder)
  }
  const grants = await Trust.list()
  assert.deepEqual(grants.map(({ directory }) => directory).sort(), [a, b])
  for (const { time } of grants) assert.ok(time >= before && time <= Date.now())
})

test("Trust of a folder outside git covers that folder only", async () => {
  await using tmp = await tmpdir()
  const sub = join(tmp.path, "sub")
  mkdirSync(sub)
  await Trust.grant(tmp.path)
  assert.equal(await Trust.check(tmp.path), true)
  assert.equal(await Trust.check(sub), false)
  assert.equal(await Trust.check(join(tmp.path, "..")), false)
})

test("Trust does not reach a repository inside a trusted one, nor the one around it", async () => {
  await using tmp = await tmpdir({ git: true })
  const nested = join(tmp.path, "vendor/nested")
  mkdirSync(nested, { recursive: true })
  tmp.git("init", "-q", nested)
  await Trust.grant(tmp.path)
  assert.equal(await Trust.check(nested), false)
  await Trust.remove(tmp.path)
  await Trust.grant(nested)
  assert.equal(await Trust.check(tmp.path), false)
  assert.equal(await Trust.check(nested), true)
})

test("Trust cannot be borrowed by a .git that points at a trusted repository", async () => {
  await using tmp = await tmpdir({ git: true })
  await Trust.grant(tmp.path)
  const [byFile, byLink, worktree] = ["by-file", "by-link", "worktree"].map((name) =>
    join(tmp.path, "..", name),
  )
  for (const folder of [byFile, byLink]) mkdirSync(folder!)
  writeFileSync(join(byFile!, ".git"), `gitdir: ${join(tmp.path, ".git")}\n`)
  symlinkSync(join(tmp.path, ".git"), join(byLink!, ".git"))
  tmp.git("worktree", "add", "-q", "-b", "other", worktree!)
  for (const folder of [byFile, byLink, worktree]) assert.equal(await Trust.check(folder!), false, folder)
})

test("Trust follows a symlink to the folder itself", async () => {
  await using tmp = await tmpdir({ git: true })
  const link = join(tmp.path, "../link")
  symlinkSync(tmp.path, link)
  assert.equal(await Trust.grant(link), tmp.path)
  assert.equal(await Trust.check(tmp.path), true)
  const other = join(tmp.path, "../other")
  mkdirSync(other)
  symlinkSync(other, join(tmp.path, "out"))
  assert.equal(await Trust.check(join(tmp.path, "out")), false)
})

test("Trust.check() does not believe a broken record, or one that names another folder", async () => {
  await using tmp = await tmpdir({ git: true })
  await Trust.grant(tmp.path)
  const [name] = await Storage.list(["trust"])
  await Storage.write(["trust", name!], { directory: "/", time: 1 })
  assert.equal(await Trust.check(tmp.path), false)
  await Storage.write(["trust", name!], null)
  assert.equal(await Trust.check(tmp.path), false)
  assert.deepEqual(await Trust.list(), [])
})

test("Trust.grant() and remove() refuse what is no directory, and say so", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write("file", "")
  for (const change of [Trust.grant, Trust.remove]) {
    await assert.rejects(change("/nope"), {
      name: "Trust.InvalidDirectory",
      message: /^"\/nope" does not exist/,
      data: { directory: "/nope" },
    })
    await assert.rejects(change(file), { name: "Trust.InvalidDirectory", message: /is not a directory/ })
  }
  assert.deepEqual(await Trust.list(), [])
})
