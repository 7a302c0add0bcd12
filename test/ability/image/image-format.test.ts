// Images are recognised by their content, and refused before anything unpacks them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { deflateSync } from "node:zlib"
import { imageFormat, maxBytes } from "#ability/image/image-format.ts"
import { withoutExtras } from "#ability/image/read-png.ts"
import { image, type Name } from "../../fixture/images.ts"
import { chunk, png } from "../../fixture/png.ts"

const real: [name: Name, mimeType: string, frames: number][] = [
  ["note.png", "image/png", 1],
  ["note.jpg", "image/jpeg", 1],
  ["note.webp", "image/webp", 1],
  ["note.gif", "image/gif", 1],
  ["moving.gif", "image/gif", 2],
  ["moving.webp", "image/webp", 2],
]
for (const [name, mimeType, frames] of real) {
  test(`imageFormat() knows ${name} and its size`, async () => {
    const { pixels: _, ...format } = await imageFormat(image(name))
    assert.deepEqual(format, { mimeType, width: 460, height: 150, frames })
  })

  test(`imageFormat() refuses ${name} that breaks off, wherever that is`, async () => {
    const bytes = image(name)
    for (let i = 1; i < 40; i++) {
      const cut = bytes.subarray(0, Math.floor((bytes.length * i) / 40))
      await assert.rejects(imageFormat(cut), { name: "Image.Invalid" }, `${cut.length} bytes`)
    }
  })
}

test("imageFormat() accepts or refuses an image with any changed byte, and never crashes", async () => {
  for (const [name] of real) {
    const whole = image(name)
    for (let i = 0; i < 300; i++) {
      const bytes = Buffer.from(whole)
      bytes[(i * 7919) % Math.min(bytes.length, 3_000)]! ^= 1 + (i % 255)
      await imageFormat(bytes).catch((error) =>
        assert.equal(error.name, "Image.Invalid", String(error.stack)),
      )
    }
  }
})

test("imageFormat() takes an interlaced PNG of any size", async () => {
  for (const [width, height, length] of [
    [1, 1, 2],
    [3, 5, 25],
    [8, 8, 79],
  ] as const) {
    const bytes = png({ width, height, interlaced: true, raw: Buffer.alloc(length) })
    assert.equal((await imageFormat(bytes)).width, width)
  }
})

const gifHead = (width: number, height: number) => {
  const head = Buffer.from("GIF89a\0\0\0\0\0\0\0", "latin1")
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  return head
}
const gifPicture = Buffer.from([0x2c, 0, 0, 0, 0, 0xe8, 3, 0xe8, 3, 0, 2, 1, 0, 0])
const gifEnd = Buffer.from([0x3b])
const jpeg = (height: number, width: number, scans = 1) =>
  Buffer.concat([
    Buffer.from([
      0xff,
      0xd8,
      0xff,
      0xc2,
      0,
      11,
      8,
      height >> 8,
      height & 255,
      width >> 8,
      width & 255,
      1,
      1,
      17,
      0,
    ]),
    ...Array.from({ length: scans }, () => Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 1, 2])),
    Buffer.from([0xff, 0xd9]),
  ])
const webp = (...chunks: [type: string, data: Buffer][]) => {
  const body = Buffer.concat([
    Buffer.from("WEBP"),
    ...chunks.flatMap(([type, data]) => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(data.length)
      return [Buffer.from(type), length, data]
    }),
  ])
  const head = Buffer.from("RIFF\0\0\0\0")
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

const refused: [what: string, bytes: Buffer, reason: RegExp][] = [
  [
    "a small PNG that claims to be huge",
    png({ width: 60_000, height: 60_000, raw: Buffer.alloc(1_000) }),
    /60000 × 60000 pixels, and a side may have 30000/,
  ],
  [
    "a PNG with more pixels than are read",
    png({ width: 10_000, height: 10_000, raw: Buffer.alloc(1_000) }),
    /10000 × 10000 pixels, and at most 50 million/,
  ],
  [
    "a PNG that unpacks to more than its size says",
    png({ width: 100, height: 100, raw: Buffer.alloc(50_000_000) }),
    /unpack to more than its width and height/,
  ],
  [
    "a PNG with fewer pixels than its size says",
    png({ width: 100, height: 100, raw: Buffer.alloc(500) }),
    /breaks off/,
  ],
  ["a PNG without width", png({ width: 0, height: 5 }), /0 × 5 pixels/],
  [
    "a PNG whose pixels are not packed",
    Buffer.concat([
      png({ width: 9, height: 9 }).subarray(0, 33),
      chunk("IDAT", Buffer.from("no zlib stream")),
      chunk("IEND", Buffer.alloc(0)),
    ]),
    /damaged PNG/,
  ],
  [
    "a GIF that claims to be huge",
    Buffer.concat([gifHead(65_535, 65_535), gifPicture, gifEnd]),
    /65535 × 65535/,
  ],
  [
    "a GIF with too many pictures",
    Buffer.concat([gifHead(1_000, 1_000), ...Array.from({ length: 501 }, () => gifPicture), gifEnd]),
    /more than 500 pictures/,
  ],
  [
    "a GIF whose pictures are too much together",
    Buffer.concat([gifHead(1_000, 1_000), ...Array.from({ length: 300 }, () => gifPicture), gifEnd]),
    /300 pictures have more than 200 million pixels/,
  ],
  ["a GIF without a picture", Buffer.concat([gifHead(9, 9), gifEnd]), /no picture/],
  ["a JPEG that claims to be huge", jpeg(65_000, 65_000), /65000 × 65000/],
  ["a JPEG of nothing but scans", jpeg(9, 9, 300), /more than 200 scans/],
  [
    "a JPEG that says another size after a huge one",
    Buffer.concat([jpeg(65_000, 65_000).subarray(0, -2), jpeg(9, 9).subarray(2)]),
    /two frame headers/,
  ],
  ["a JPEG without a picture", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), /no picture/],
  [
    "a WebP with a huge canvas",
    webp(
      ["VP8X", Buffer.from([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
      ["VP8L", Buffer.from([0x2f, 0, 0, 0, 0, 0])],
    ),
    /16777216 × 16777216/,
  ],
  [
    "an SVG",
    Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
    /an SVG drawing.*PNG/,
  ],
  [
    "a web page",
    Buffer.from("<!DOCTYPE html><html><body>Not found</body></html>"),
    /a web page, not an image/,
  ],
  ["a PDF", Buffer.from("%PDF-1.7\n\0\0\0"), /another kind \(PDF document\)/],
  ["a text", Buffer.from("hello"), /text, not an image/],
  ["nothing", Buffer.alloc(0), /empty/],
  ["more bytes than are read", Buffer.alloc(maxBytes + 1), /20000001 bytes, and at most 20000000/],
]
for (const [what, bytes, reason] of refused)
  test(`imageFormat() refuses ${what}`, async () => {
    await assert.rejects(imageFormat(bytes), (error: Error) => {
      assert.equal(error.name, "Image.Invalid")
      assert.match(error.message, reason)
      return true
    })
  })

test("withoutExtras() keeps the picture and removes texts and profiles", async () => {
  const bomb = Buffer.concat([Buffer.from("x\0\0"), deflateSync(Buffer.alloc(5_000_000))])
  const bytes = png({ width: 9, height: 9, extra: [chunk("zTXt", bomb), chunk("tEXt", Buffer.from("a\0b"))] })
  assert.deepEqual(withoutExtras(bytes), png({ width: 9, height: 9 }))
})
