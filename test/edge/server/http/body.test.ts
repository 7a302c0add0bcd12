// Request bodies: accepted and refused ones.
import assert from "node:assert/strict"
import { test } from "node:test"
import { type Body, errorOf, json, setUp } from "../app-harness.ts"
import { range } from "../harness.ts"

test("a body is checked for type, size, encoding, depth and shape, and the answer says where it is wrong", async () => {
  await using t = await setUp()
  const send = (body: Body, headers: Record<string, string> = json) =>
    t.ask("/echo/1", { method: "POST", body, headers, duplex: "half" } as RequestInit)
  const good = await send('\ufeff{"parts":[{"text":"a"}],"__proto__":{"x":1}}')
  assert.equal(good.status, 200)
  assert.deepEqual(await good.json(), { id: "1", parts: 1, directory: t.tmp.path })
  const wrong: [Body, RegExp][] = [
    ["", /body/],
    ["{", /body/],
    ['{"parts":[{"text":1}]}', /body\.parts\.0\.text/],
    ["null", /body/],
    ['{"parts":"\0"}', /body/],
    [new Uint8Array([0x22, 0xff, 0x22]), /body.*(encod|utf)/i],
    [`${"[".repeat(2000)}${"]".repeat(2000)}`, /deeper than 100/],
  ]
  for (const [body, pattern] of wrong) {
    const response = await send(body)
    assert.equal(response.status, 400, String(pattern))
    assert.match((await errorOf(response)).message, pattern)
  }
  assert.equal((await send("{}", { "content-type": "text/plain" })).status, 415)
  const big = JSON.stringify({ parts: [{ text: "x".repeat(6000) }] })
  assert.equal((await send(big)).status, 413)
  assert.equal((await send(big, { ...json, "content-length": "6020" })).status, 413)
  const pieces = range(0, 20).map(() => new Uint8Array(1000).fill(32))
  assert.equal((await send(ReadableStream.from(pieces))).status, 413)
  const tooLong = await t.ask("/echo/123456", { method: "POST", body: '{"parts":[]}', headers: json })
  assert.match((await errorOf(tooLong)).message, /path\.id/)
})
