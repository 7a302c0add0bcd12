// Reads a PNG, which is a list of chunks. The pixels are one zlib stream, and the header says how long it is unpacked: a
// shorter one is cut off, and a longer one (a decompression bomb) is refused.
import { crc32, createInflate } from "node:zlib"
import { cutOff, damaged, ImageInvalid } from "./errors.ts"
import type { Shape } from "./image-format.ts"

const signature = 8
/** Samples per pixel, by the colour type. */
const samples: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
/** First column, first row, and steps of the seven passes of an interlaced picture. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const
/** Some programs write a few more bytes after the last row. */
const slack = 65_536
const maxChunks = 100_000

export function readPng(bytes: Buffer): Shape {
  const { width, height } = headerOf(bytes)
  let hasPixels = false
  for (const { type } of chunksOf(bytes)) {
    if (type === "IDAT") hasPixels = true
    if (type !== "IEND") continue
    if (hasPixels) return { width, height, frames: 1, pixels: width * height }
    throw damaged("PNG", "it has no pixels")
  }
  throw cutOff("PNG")
}

/** Unpacks the pixels to check them, without keeping them. Check the width and height first: they decide how much is
 * unpacked. */
export async function checkPixels(bytes: Buffer): Promise<void> {
  const expected = lengthOf(bytes)
  const inflate = createInflate()
  inflate.on("error", () => {})
  for (const { type, data } of chunksOf(bytes)) if (type === "IDAT") inflate.write(data)
  inflate.end()
  let length = 0
  try {
    for await (const part of inflate) {
      length += (part as Buffer).length
      if (length > expected + slack) break
    }
  } catch {
    throw length < expected
      ? damaged("PNG", "its pixels cannot be decompressed")
      : damaged("PNG", "the end of its pixel data is damaged")
  } finally {
    inflate.destroy()
  }
  if (length > expected + slack)
    throw new ImageInvalid("it is a PNG whose pixels unpack to more than its width and height allow.")
  if (length < expected) throw cutOff("PNG")
}

/** Keeps only the chunks that are needed to draw the picture. Others, such as texts and colour profiles, may be
 * compressed and unpack to any size. */
export function withoutExtras(bytes: Buffer): Buffer {
  const kept = [...chunksOf(bytes)].filter(({ type }) => /^(IHDR|PLTE|tRNS|IDAT|IEND)$/.test(type))
  return Buffer.concat([bytes.subarray(0, signature), ...kept.map(({ whole }) => whole)])
}

function headerOf(bytes: Buffer) {
  const [header] = chunksOf(bytes)
  if (!header) throw cutOff("PNG")
  const { type, data } = header
  if (type !== "IHDR" || data.length !== 13) throw damaged("PNG", "its header is missing")
  return {
    width: data.readUInt32BE(0),
    height: data.readUInt32BE(4),
    depth: data[8]!,
    colour: data[9]!,
    isInterlaced: data[12] === 1,
  }
}

function lengthOf(bytes: Buffer): number {
  const { width, height, depth, colour, isInterlaced } = headerOf(bytes)
  const perPixel = samples[colour]
  if (!perPixel || ![1, 2, 4, 8, 16].includes(depth))
    throw damaged("PNG", "its header has an invalid colour type or bit depth")
  const rows = (columns: number, count: number) =>
    columns && count ? count * (1 + Math.ceil((columns * perPixel * depth) / 8)) : 0
  if (!isInterlaced) return rows(width, height)
  return passes.reduce(
    (sum, [x, y, across, down]) =>
      sum + rows(Math.max(0, Math.ceil((width - x) / across)), Math.max(0, Math.ceil((height - y) / down))),
    0,
  )
}

/** Yields the chunks up to the end, or up to one that is cut off. Throws if the checksum of a critical chunk is wrong. */
function* chunksOf(bytes: Buffer): Generator<{ type: string; data: Buffer; whole: Buffer }> {
  for (let at = signature, count = 0; at + 12 <= bytes.length; count++) {
    if (count > maxChunks) throw damaged("PNG", `it has more than ${maxChunks} chunks`)
    const length = bytes.readUInt32BE(at)
    const end = at + 12 + length
    if (end > bytes.length) return
    const type = bytes.toString("latin1", at + 4, at + 8)
    const data = bytes.subarray(at + 8, at + 8 + length)
    const isNeeded = /^[A-Z]/.test(type)
    if (isNeeded && crc32(bytes.subarray(at + 4, at + 8 + length)) !== bytes.readUInt32BE(end - 4))
      throw damaged("PNG", `the checksum of its chunk ${JSON.stringify(type)} is wrong`)
    yield { type, data, whole: bytes.subarray(at, end) }
    if (type === "IEND") return
    at = end
  }
}
