// Reads a WebP: chunks in a RIFF container. A simple file has one picture; an extended one has a canvas and may be
// animated.
import { cutOff, damaged } from "./errors.ts"
import type { Shape } from "./image-format.ts"

export function readWebp(bytes: Buffer): Shape {
  const end = 8 + bytes.readUInt32LE(4)
  if (end > bytes.length) throw cutOff("WebP")
  let [width, height, frames, pictures, pixels] = [0, 0, 0, 0, 0]
  for (let at = 12; at + 8 <= end; ) {
    const type = bytes.toString("latin1", at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (data.length < length) throw cutOff("WebP")
    const size = sizeOf(type, data)
    width = Math.max(width, size?.width ?? 0)
    height = Math.max(height, size?.height ?? 0)
    if (type === "ANMF") frames++
    if (type === "VP8 " || type === "VP8L") pictures++
    if (size && type !== "VP8X") pixels += size.width * size.height
    at += 8 + length + (length & 1)
  }
  if (!frames && !pictures) throw damaged("WebP", "it has no picture in it")
  return { width, height, frames: frames || 1, pixels }
}

/** Undefined for chunks without a size. */
function sizeOf(type: string, data: Buffer): { width: number; height: number } | undefined {
  if (!/^(VP8[ LX]|ANMF)$/.test(type)) return undefined
  if (data.length < (type === "VP8L" ? 5 : type === "ANMF" ? 16 : 10)) throw cutOff("WebP")
  if (type === "VP8X") return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }
  if (type === "ANMF") return { width: data.readUIntLE(6, 3) + 1, height: data.readUIntLE(9, 3) + 1 }
  if (type === "VP8L") {
    if (data[0] !== 0x2f) throw damaged("WebP", "its picture has a wrong signature")
    const bits = data.readUInt32LE(1)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (data.readUIntBE(3, 3) !== 0x9d012a) throw damaged("WebP", "its picture has a wrong signature")
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
}
