// Bounded output: the model gets the beginning and the end, the disk gets everything, and memory holds little.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Readable } from "node:stream"
import { test } from "node:test"
import { createOutput, maxShown } from "#ability/call/output.ts"
import { outputFolder } from "#ability/call/output-folder.ts"
import * as Global from "#kernel/process/global.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const ids = { sessionId: "ses_1", callId: "call_1" }
const fileIn = (text: string) => / in (\/\S+\.txt),/.exec(text)?.[1] ?? ""

test("createOutput() gives short output back unchanged and writes no file", async () => {
  await using _ = await tmpdir()
  const output = createOutput(ids)
  const chunk = Buffer.from("aä")
  await output.write(chunk)
  chunk.fill(0)
  await output.write("\nb".repeat(20))
  assert.equal(await output.finish(), `aä${"\nb".repeat(20)}`)
  assert.equal(existsSync(outputFolder("ses_1")), false)
})

test("createOutput() shows exactly 50 000 bytes whole, and cuts one more", async () => {
  await using _ = await tmpdir()
  const whole = createOutput(ids)
  await whole.write("x".repeat(maxShown))
  assert.equal(await whole.finish(), "x".repeat(maxShown))
  const cut = createOutput(ids)
  await cut.write("x".repeat(maxShown))
  await cut.write("y")
  const text = await cut.finish()
  assert.match(text, /^x+\n\[… \d+ of 50001 bytes .* left out; all of it in .*\]\nx+y$/s)
  assert.ok(Buffer.byteLength(text) <= maxShown)
})

test("createOutput() keeps both ends at line ends, counts what is left out, and spills the whole", async () => {
  await using _ = await tmpdir()
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`)
  const output = createOutput(ids)
  for (const line of lines) await output.write(line)
  const text = await output.finish()
  assert.ok(text.startsWith("line 0\nline 1\n"))
  assert.ok(text.endsWith("line 19998\nline 19999\n"))
  const mark = /^\[… (\d+) of (\d+) bytes \((\d+) lines\) left out; /m.exec(text)!
  const [before, after] = text.split(/\n\[….*\n/) as [string, string]
  assert.match(before, /^line \d+$/m)
  assert.match(after, /^line \d+\n/)
  const total = lines.join("").length
  assert.deepEqual(mark.slice(2), [String(total), "20000"])
  assert.equal(Number(mark[1]), total - before.length - after.length)
  const file = fileIn(text)
  assert.equal(file, join(Global.data(), "outputs", "ses_1", "call_1.txt"))
  assert.equal(readFileSync(file, "utf8"), lines.join(""))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(dirname(file)).mode & 0o777, 0o700)
})

for (const char of ["é", "€", "😀"])
  test(`createOutput() never cuts through ${char}`, async () => {
    await using _ = await tmpdir()
    for (const shift of ["", "a", "aa", "aaa"]) {
      const output = createOutput(ids)
      await output.write(shift + char.repeat(40_000))
      const text = await output.finish()
      assert.doesNotMatch(text, /\ufffd/)
      assert.ok(Buffer.byteLength(text) <= maxShown)
    }
  })

test("createOutput() caps the file at 20 MB and says so; the end is still the end", async () => {
  await using _ = await tmpdir()
  const output = createOutput(ids)
  const chunk = Buffer.alloc(1_000_000, "0123456789abcdef\n")
  for (let i = 0; i < 25; i++) await output.write(chunk)
  await output.write("the end")
  const text = await output.finish()
  assert.match(text, /the first 20000000 bytes in/)
  assert.equal(statSync(fileIn(text)).size, 20_000_000)
  assert.ok(text.endsWith("the end"))
})

test("createOutput() gives every call a file of its own, whatever its id", async () => {
  await using _ = await tmpdir()
  const spill = async (sessionId: string, callId: string) => {
    const output = createOutput({ sessionId, callId })
    await output.write(`${callId}\n`.repeat(60_000))
    return fileIn(await output.finish())
  }
  const files = [await spill("ses_1", "call_1"), await spill("ses_1", "call_1")]
  assert.deepEqual(
    files.map((file) => basename(file)),
    ["call_1.txt", "call_1-2.txt"],
  )
  const odd = await spill("../..", "../../../x")
  assert.equal(dirname(dirname(odd)), join(Global.data(), "outputs"))
  assert.match(basename(odd), /^[0-9a-f]{40}\.txt$/)
})

test("createOutput() goes on without a file if none can be written", async () => {
  await using _ = await tmpdir()
  mkdirSync(Global.data(), { recursive: true })
  writeFileSync(join(Global.data(), "outputs"), "in the way")
  const output = createOutput(ids)
  for (let i = 0; i < 3; i++) await output.write("line\n".repeat(20_000))
  assert.match(await output.finish(), /^line\n.*could not be kept: .*\nline\n$/s)
  chmodSync(join(Global.data(), "outputs"), 0o600)
})

test("read() of a sink frees chunks that share no memory", async () => {
  await using _ = await tmpdir()
  const own = new Uint8Array(20_000).fill(97)
  const shared = Buffer.from(new ArrayBuffer(40_000), 0, 20_000).fill(98)
  const output = createOutput(ids)
  await output.read(Readable.from([Buffer.from(own.buffer), shared], { objectMode: true }))
  assert.equal(await output.finish(), "a".repeat(20_000) + "b".repeat(20_000))
  assert.deepEqual([own.byteLength, shared.byteLength], [0, 20_000])
})

test("read() of a sink takes a child's output to its end", async () => {
  await using _ = await tmpdir()
  const flood = async (bytes: number) => {
    const output = createOutput(ids)
    await output.read(spawn("sh", ["-c", `yes abcdefg | head -c ${bytes}`]).stdout)
    return output.finish()
  }
  const text = await flood(100_000_000)
  assert.match(text, / of 100000000 bytes \(12500000 lines\)/)
  assert.equal(statSync(fileIn(text)).size, 20_000_000)
})
