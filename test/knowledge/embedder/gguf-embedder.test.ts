// A GGUF model that the test writes itself, through the real library.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import * as Global from "#kernel/process/global.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { writeTinyGguf } from "../../fixture/tiny-gguf.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const library = fileURLToPath(new URL("../../../script/llama", import.meta.url))
const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

test("a GGUF embedder gives unit vectors of the length that its file names", async () => {
  await using tmp = await tmpdir()
  mkdirSync(Global.data(), { recursive: true })
  symlinkSync(library, join(Global.data(), "llama"))
  const path = join(tmp.path, "tiny.gguf")
  writeTinyGguf(path)
  const embedder = createEmbedder({ backend: "gguf", path })
  assert.equal(embedder.dimensions, 512)
  assert.match(embedder.id, /^tiny\.gguf:\d+:\d+$/)
  const [file, empty, again, other] = await embedder.embedBatch([
    "read a file",
    " ",
    "read a file",
    "x".repeat(50_000),
  ])
  assert.ok(Math.abs(dot(file!, file!) - 1) < 1e-4)
  assert.deepEqual(empty, new Float32Array(512))
  assert.ok(dot(file!, again!) > 0.9999)
  assert.ok(dot(file!, other!) < 0.9999)
  await embedder.close()
  assert.ok(dot(await embedder.embed("read a file"), file!) > 0.9999)
  await embedder.close()
  await embedder.close()
})

test("a file that is no GGUF model is refused when the embedder is made", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "whole.gguf")
  writeTinyGguf(path)
  const cut = tmp.write("cut.gguf", readFileSync(path).subarray(0, 100_000))
  const other = tmp.write("other.gguf", "VEMB and more")
  for (const [file, reason] of [
    [cut, /breaks off/],
    [other, /does not begin with "GGUF"/],
    [join(tmp.path, "none.gguf"), /no such file/],
  ] as const)
    assert.throws(() => createEmbedder({ backend: "gguf", path: file }), {
      name: "Gguf.Invalid",
      message: reason,
    })
})

test("without the library the first text says how to get it", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "tiny.gguf")
  writeTinyGguf(path)
  const embedder = createEmbedder({ backend: "gguf", path })
  await assert.rejects(embedder.embed("a"), /node-llama-cpp is not installed.*npm install/)
  await embedder.close()
})
