// Reads a GIF: the size of the canvas, then pictures that are drawn on it in order, each in blocks of at most 255
// bytes.
import { cutOff, damaged } from "./errors.ts"
import type { Shape } from "./image-format.ts"

const [extension, picture, trailer] = [0x21, 0x2c, 0x3b]

export function readGif(bytes: Buffer): Shape {
  if (bytes.length < 13) throw cutOff("GIF")
  let width = bytes.readUInt16LE(6)
  let height = bytes.readUInt16LE(8)
  let frames = 0
  let pixels = 0
  let at = 13 + tableOf(bytes[10]!)
  for (;;) {
    const kind = bytes[at]
    if (kind === undefined) throw cutOff("GIF")
    if (kind === trailer) break
    if (kind === extension) at = afterBlocks(bytes, at + 2)
    else if (kind === picture) {
      if (at + 11 > bytes.length) throw cutOff("GIF")
      const [ownWidth, ownHeight] = [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7)]
      width = Math.max(width, bytes.readUInt16LE(at + 1) + ownWidth)
      height = Math.max(height, bytes.readUInt16LE(at + 3) + ownHeight)
      frames++
      pixels += ownWidth * ownHeight
      at = afterBlocks(bytes, at + 11 + tableOf(bytes[at + 9]!))
    } else throw damaged("GIF", "it has unknown data between its pictures")
  }
  if (!frames) throw damaged("GIF", "it has no picture in it")
  return { width, height, frames, pixels }
}

/** The size of a colour table in bytes, from the flags before it. */
function tableOf(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

function afterBlocks(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] !== 0) {
    if (at >= bytes.length) throw cutOff("GIF")
    at += 1 + bytes[at]!
  }
  return at + 1
}
