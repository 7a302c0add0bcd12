import assert from "node:assert/strict"
import { test } from "node:test"
import { createSseParser } from "#client/parse-sse.ts"

const stream =
  'retry: 1000\n\nid: 7\nevent: a.b\ndata: {"é":"😀"}\n\n: heartbeat\nid: 9\n\ndata:one\r\ndata: two\r\n\r\ndata\rid: 10\r\r'
const blocks = [{ id: "7", data: '{"é":"😀"}' }, { id: "9" }, { data: "one\ntwo" }, { data: "", id: "10" }]

for (const size of [1, 2, 3, 7, 1000])
  test(`createSseParser() reads a stream in pieces of ${size} characters`, () => {
    const parser = createSseParser()
    const found = []
    for (let i = 0; i < stream.length; i += size) found.push(...parser.add(stream.slice(i, i + size)))
    // The last CR may be the first half of a CRLF.
    found.push(...parser.add("\n"))
    assert.deepEqual(found, blocks)
  })
