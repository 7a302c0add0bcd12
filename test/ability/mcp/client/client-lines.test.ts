import assert from "node:assert/strict"
import { test } from "node:test"
import { type Cut, createBoundedLines } from "#util/bounded-lines.ts"

test("lines come out whole, however the stream is cut into chunks", () => {
  const text = `${["one", "zwölf 🙂", "", "x".repeat(90), "last"].join("\n")}\n`
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size++) {
    const lines: string[] = []
    const reader = createBoundedLines({
      limit: 100,
      onLine: (line) => lines.push(line),
      onCut: () => assert.fail("no line is too long"),
    })
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    assert.deepEqual(lines, ["one", "zwölf 🙂", "x".repeat(90), "last"])
    assert.equal(reader.pending(), 0)
  }
})

test("both ends of a line that is too long are kept, and the next line is read", () => {
  const long = `{"first":1,${"x".repeat(5_000)},"id":7}`
  for (const size of [1, 100, 999, 10_000]) {
    const lines: string[] = []
    const cuts: Cut[] = []
    const reader = createBoundedLines({
      limit: 1_000,
      onLine: (line) => lines.push(line),
      onCut: (cut) => cuts.push(cut),
    })
    const bytes = Buffer.from(`before\n${long}\nafter\n`)
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    assert.deepEqual(lines, ["before", "after"])
    assert.equal(cuts.length, 1)
    assert.equal(cuts[0]!.bytes, long.length)
    assert.equal(cuts[0]!.tail, long.slice(-256))
    assert.equal(cuts[0]!.head, long.slice(0, 256))
  }
})
