// Message bytes: cached for frozen messages, and sent in few pieces.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4Message } from "@ai-sdk/provider"
import { addPiece, createMessageBytes } from "#ability/provider/chat/chat-request.ts"

const write = (message: LanguageModelV4Message) => `:${message.content}`
const said = (content: string) => Object.freeze({ role: "system" as const, content })

test("createMessageBytes() encodes a frozen message once, others every time", () => {
  const writes: string[] = []
  const { bytesOf } = createMessageBytes((message) => {
    writes.push(write(message))
    return write(message)
  })
  const frozen = said("é")
  assert.equal(bytesOf(frozen), bytesOf(frozen))
  assert.deepEqual(writes, [":é"])
  const open = { role: "system" as const, content: "1" }
  assert.equal(bytesOf(open).toString(), ":1")
  open.content = "2"
  assert.equal(bytesOf(open).toString(), ":2")
})

test("addPiece() joins adjacent bytes into few pieces, whatever their sizes and order", () => {
  const { bytesOf } = createMessageBytes(write)
  const joined = (pieces: Buffer[]) => {
    const few: Buffer[] = []
    for (const piece of pieces) addPiece(few, piece)
    return few
  }
  const sizes = Array.from({ length: 2_000 }, (_, i) => (i % 100 === 0 ? 20_000 : i % 500))
  const pieces = sizes.map((size, i) => bytesOf(said(String(i % 10).repeat(size))))
  const few = joined(pieces)
  assert.ok(Buffer.concat(few).equals(Buffer.concat(pieces)))
  assert.ok(few.length < 60, String(few.length))
  const mixed = pieces.toReversed().concat(pieces, Buffer.alloc(0), pieces[7]!, pieces[7]!)
  assert.ok(Buffer.concat(joined(mixed)).equals(Buffer.concat(mixed)))
  assert.deepEqual(joined([]), [])
})

test("createMessageBytes() uses larger blocks for more bytes: 20 MB are fewer than 200 pieces", () => {
  const { bytesOf } = createMessageBytes(write)
  const few: Buffer[] = []
  let size = 0
  for (let i = 0; i < 5_000; i++) {
    const bytes = bytesOf(said("é".repeat(i % 4_000)))
    size += bytes.length
    addPiece(few, bytes)
  }
  assert.ok(few.length < 200, String(few.length))
  assert.equal(Buffer.concat(few).length, size)
})
