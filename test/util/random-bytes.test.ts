// Random bytes come from /dev/urandom, or from node:crypto if there is no such device.
import assert from "node:assert/strict"
import { test } from "node:test"
import { randomBytes } from "#util/id.ts"
import { run } from "../fixture/child.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const module = new URL("../../src/util/id.ts", import.meta.url).href

test("randomBytes() returns the requested number of bytes, different each time", () => {
  const all = Array.from({ length: 100 }, () => randomBytes(16))
  assert.ok(all.every(({ length }) => length === 16))
  assert.equal(new Set(all.map((bytes) => bytes.toString("hex"))).size, 100)
})

test("randomBytes() works without /dev/urandom", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    "no-device.mjs",
    `import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
const open = fs.openSync
fs.openSync = (path, ...more) => open(path === "/dev/urandom" ? "/dev/no-such-device" : path, ...more)
syncBuiltinESMExports()
const { randomBytes } = await import(${JSON.stringify(module)})
console.error(randomBytes(16).length, randomBytes(16).equals(randomBytes(16)))`,
  )
  await using child = run(process.execPath, ["no-device.mjs"], { cwd: tmp.path, env: tmp.env })
  assert.equal(await child.exit, 0, child.errors())
  assert.equal(child.errors().trim(), "16 false")
})
