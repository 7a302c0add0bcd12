// GGUF files with false headers: each is refused before the native library gets it.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { ftruncateSync, openSync, readFileSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { GgufInvalid, GgufTooLarge, readGgufHeader } from "#knowledge/llama/gguf-header.ts"
import { createRandom } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { writeTinyGguf } from "../../fixture/tiny-gguf.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

function tiny(tmp: Tmp) {
  const path = join(tmp.path, "tiny.gguf")
  writeTinyGguf(path, { context: 2_048, name: "Tiny", chatTemplate: "a <start_function_call>" })
  return { path, bytes: readFileSync(path) }
}

/** A file of one tensor with this many weights. */
function promising(weights: bigint): Buffer {
  const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  const u64 = (value: bigint) => Buffer.from(BigUint64Array.of(value).buffer)
  const text = (value: string) => Buffer.concat([u64(BigInt(value.length)), Buffer.from(value)])
  return Buffer.concat([
    ...[Buffer.from("GGUF"), u32(3), u64(1n), u64(1n)],
    ...[text("general.architecture"), u32(8), text("llama")],
    ...[text("t"), u32(1), u64(weights), u32(0), u64(0n)],
    Buffer.alloc(64),
  ])
}

test("readGgufHeader() reads the facts of a model", async () => {
  await using tmp = await tmpdir()
  const { path, bytes } = tiny(tmp)
  const { modified, weights, ...rest } = readGgufHeader(path)
  assert.deepEqual(rest, {
    size: bytes.length,
    architecture: "llama",
    name: "Tiny",
    context: 2_048,
    embedding: 512,
    chatTemplate: "a <start_function_call>",
  })
  assert.ok(weights > 4_000_000 && weights < bytes.length)
  assert.ok(modified > 0)
})

test("a GGUF file that breaks off anywhere is refused", async () => {
  await using tmp = await tmpdir()
  const { path, bytes } = tiny(tmp)
  const ends = [0, 3, 4, 8, 24, 30, 100, 5_000, 12_000, 20_000, 100_000, bytes.length - 40]
  for (const end of ends.sort((a, b) => b - a)) {
    truncateSync(path, end)
    assert.throws(() => readGgufHeader(path), GgufInvalid, `${end} bytes`)
  }
})

test("a file that is no GGUF model is refused by name", async () => {
  await using tmp = await tmpdir()
  const { bytes } = tiny(tmp)
  const old = Buffer.from(bytes)
  old.writeUInt32LE(1, 4)
  execFileSync("mkfifo", [join(tmp.path, "pipe")])
  for (const [path, reason] of [
    [tmp.write("text", "GGML and more"), /does not begin with "GGUF"/],
    [tmp.write("zip", Buffer.from("PK\u0003\u0004")), /does not begin with "GGUF"/],
    [tmp.write("old", old), /version 1/],
    [tmp.path, /not a plain file/],
    [join(tmp.path, "pipe"), /not a plain file/],
    [join(tmp.path, "none"), /no such file/],
  ] as const)
    assert.throws(() => readGgufHeader(path), { name: "Gguf.Invalid", message: reason })
})

test("a GGUF header that promises terabytes is refused, with and without the bytes", async () => {
  await using tmp = await tmpdir()
  const promise = tmp.write("promise.gguf", promising(1n << 40n))
  assert.throws(() => readGgufHeader(promise), { name: "Gguf.Invalid", message: /promises 4398046511/ })
  const huge = tmp.write("huge.gguf", promising((1n << 62n) - 1n))
  assert.throws(() => readGgufHeader(huge), GgufInvalid)
  const sparse = tmp.write("sparse.gguf", promising(1n << 40n))
  ftruncateSync(openSync(sparse, "r+"), 5 * 2 ** 40)
  assert.throws(() => readGgufHeader(sparse), { name: "Gguf.TooLarge", message: /4096\.0 GB, and there are/ })
  const { path } = tiny(tmp)
  assert.throws(() => readGgufHeader(path, 1_000_000), GgufTooLarge)
})

test("GGUF headers with changed bytes are read or refused, and never crash", async () => {
  await using tmp = await tmpdir()
  const { bytes } = tiny(tmp)
  const random = createRandom(3)
  let refused = 0
  for (let round = 0; round < repeat(300, 10_000); round++) {
    const changed = Buffer.from(bytes.subarray(0, 14_000))
    for (let i = 0; i <= random(4); i++) {
      const at = random(5) ? random(changed.length - 8) : random(60)
      if (random(2)) changed[at] = random(256)
      else changed.writeBigUInt64LE(BigInt(random(2 ** 30)) << BigInt(random(34)), at)
    }
    const path = tmp.write("changed.gguf", changed)
    truncateSync(path, bytes.length)
    try {
      readGgufHeader(path)
    } catch (error) {
      refused++
      assert.ok(error instanceof GgufInvalid || error instanceof GgufTooLarge, String(error))
    }
  }
  assert.ok(refused > 0)
})
