import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createPieces, readEmbedded } from "#knowledge/embedder/embedded-model.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

type Check = {
  rows: { text: string; pieces: string[]; head: number[] }[]
  pairs: { a: string; b: string; cosine: number }[]
}
const source = fileURLToPath(new URL("../../../src/knowledge/embedder/", import.meta.url))
const modelFile = `${source}model/embedder.bin`
const check: Check = JSON.parse(
  readFileSync(new URL("../../fixture/embedder/check.json", import.meta.url), "utf8"),
)

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

test("the embedded model gives the vectors of its check values", async () => {
  const embedder = createEmbedder()
  assert.equal(embedder.dimensions, 256)
  for (const { text, head } of check.rows) {
    const vector = await embedder.embed(text)
    assert.equal(vector.length, 256)
    for (const [at, value] of head.entries()) assert.ok(Math.abs(vector[at]! - value) < 2e-6, text)
  }
  for (const { a, b, cosine } of check.pairs) {
    const [left, right] = await embedder.embedBatch([a, b])
    assert.ok(Math.abs(dot(left!, right!) - cosine) < 1e-4, `${a} / ${b}`)
  }
  await embedder.close()
})

test("a text is cut into the pieces of the check values", () => {
  const file = readFileSync(modelFile)
  const count = file.readUInt32LE(8)
  const names = file.toString("latin1", file.length - file.readUInt32LE(16)).split("\n")
  const piecesOf = createPieces(names, new Float32Array(file.buffer, file.byteOffset + 20, count))
  for (const { text, pieces } of check.rows)
    assert.deepEqual(
      piecesOf(text).map((row) => names[row]),
      pieces,
    )
})

test("embedNow() returns unit vectors, and the zero vector for a text without known pieces", () => {
  const embedNow = createEmbedder().embedNow!
  for (const text of [
    "x",
    "GET /v1/users?id=3",
    `${"word ".repeat(100_000)}`,
    "A".repeat(50_000),
    "a1b2C3dE".repeat(900),
  ])
    assert.ok(Math.abs(dot(embedNow(text), embedNow(text)) - 1) < 1e-5)
  for (const text of ["", "  \n", "日本語", "—!?", "\ud800"])
    assert.ok(embedNow(text).every((value) => value === 0))
})

test("the model file is read with the first text, once for all embedders of a process", () => {
  const script = `
    import fs from "node:fs"
    import { syncBuiltinESMExports } from "node:module"
    const read = fs.readFileSync
    let count = 0
    fs.readFileSync = (path, ...rest) => {
      if (String(path).endsWith("embedder.bin")) count++
      return read(path, ...rest)
    }
    syncBuiltinESMExports()
    const { createEmbedder } = await import(${JSON.stringify(`${source}create-embedder.ts`)})
    const made = Array.from({ length: 8 }, () => createEmbedder())
    const before = count
    await Promise.all(made.map((embedder) => embedder.embed("read a file")))
    await made[0].close()
    made[0].embedNow("again")
    console.log(before, count)`
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })
  assert.equal(printed, "0 1\n")
})

test("a missing or damaged model file is a clear error", async () => {
  await using tmp = await tmpdir()
  const whole = readFileSync(modelFile)
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(whole)
    copy.writeUInt32LE(value, at)
    return copy
  }
  const cases: [string, Buffer, RegExp][] = [
    ["empty", Buffer.alloc(0), /does not begin with VEMB/],
    ["other", Buffer.from("GGUF and something else entirely"), /does not begin with VEMB/],
    ["cut", whole.subarray(0, 5_000_000), /has 5000000 bytes and should have 7981591/],
    ["newer", changed(4, 2), /its version is 2, this program reads version 1/],
    ["wide", changed(12, 512), /29400 pieces of 512 numbers/],
    ["huge", changed(8, 0xffffffff), /4294967295 pieces/],
    ["names", Buffer.concat([whole.subarray(0, -1), Buffer.from("\n")]), /names 29401 pieces/],
  ]
  assert.throws(() => readEmbedded(`${tmp.path}/none.bin`), {
    name: "Embedder.BrokenModel",
    message: /none\.bin cannot be used: ENOENT/,
  })
  for (const [name, bytes, message] of cases) {
    const path = tmp.write(name, bytes)
    assert.throws(() => readEmbedded(path), { name: "Embedder.BrokenModel", message })
  }
})
