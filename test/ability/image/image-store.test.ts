import assert from "node:assert/strict"
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { outputFolder } from "#ability/call/output-folder.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const bytes = Buffer.from("an image")

test("ImageStore.write() stores an image once, readable by its owner only", async () => {
  await using _ = await tmpdir()
  const hash = await ImageStore.write("sess_1", bytes)
  assert.equal(await ImageStore.write("sess_1", bytes), hash)
  const folder = join(outputFolder("sess_1"), "images")
  assert.deepEqual(readdirSync(folder), [hash])
  assert.equal(statSync(join(folder, hash)).mode & 0o777, 0o600)
  assert.deepEqual(ImageStore.read("sess_1", hash), bytes)
})

test("ImageStore.read() returns undefined for a missing or changed image, or an invalid hash", async () => {
  await using tmp = await tmpdir()
  const hash = await ImageStore.write("sess_1", bytes)
  assert.equal(ImageStore.read("sess_2", hash), undefined)
  tmp.write("secret", "x")
  assert.equal(ImageStore.read("sess_1", "../../../project/secret"), undefined)
  writeFileSync(join(outputFolder("sess_1"), "images", hash), "another image")
  assert.equal(ImageStore.read("sess_1", hash), undefined)
})

test("ImageStore.write() replaces a damaged image", async () => {
  await using _ = await tmpdir()
  const hash = await ImageStore.write("sess_1", bytes)
  writeFileSync(join(outputFolder("sess_1"), "images", hash), "half")
  assert.equal(await ImageStore.write("sess_1", bytes), hash)
  assert.deepEqual(ImageStore.read("sess_1", hash), bytes)
})

test("ImageStore.copy() gives a fork images that outlive those of its source", async () => {
  await using _ = await tmpdir()
  const hash = await ImageStore.write("sess_1", bytes)
  await ImageStore.copy("sess_1", "sess_2")
  await ImageStore.copy("sess_3", "sess_4")
  rmSync(outputFolder("sess_1"), { recursive: true })
  assert.deepEqual(ImageStore.read("sess_2", hash), bytes)
  assert.equal(existsSync(outputFolder("sess_4")), false)
})
