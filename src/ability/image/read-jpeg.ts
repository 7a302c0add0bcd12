// Reads a JPEG, which is a list of segments with a marker and a length each. The pixels follow the segment of their scan.
import { cutOff, damaged } from "./errors.ts"
import type { Shape } from "./image-format.ts"

const start = 0xd8
const end = 0xd9
const scan = 0xda
/** Decoding a scan takes time for the whole picture, and a hostile file can have very many scans. */
const maxScans = 200

export function readJpeg(bytes: Buffer): Shape {
  let size: { width: number; height: number } | undefined
  let scans = 0
  for (let at = 0; ; ) {
    at = nextMarker(bytes, at)
    const marker = bytes[at + 1]
    if (marker === undefined) throw cutOff("JPEG")
    if (marker === end) break
    if (marker === start) {
      at += 2
      continue
    }
    if (at + 4 > bytes.length) throw cutOff("JPEG")
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) throw damaged("JPEG", "one of its segments has no length")
    if (at + 2 + length > bytes.length) throw cutOff("JPEG")
    if (isFrame(marker) && length >= 8) {
      // Decoders differ in which of two sizes they use.
      if (size) throw damaged("JPEG", "it has two frame headers")
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    }
    if (marker === scan && ++scans > maxScans) throw damaged("JPEG", `it has more than ${maxScans} scans`)
    at += 2 + length
  }
  if (!size || !scans) throw damaged("JPEG", "it has no picture in it")
  return { ...size, frames: 1, pixels: size.width * size.height }
}

/** The position of the next 0xff that begins a marker; pixel data also contains 0xff. */
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1]
    const isMarker = next !== undefined && next > 1 && next < 0xff && !(next >= 0xd0 && next <= 0xd7)
    if (isMarker) return at
  }
  return bytes.length
}

/** SOF0 to SOF15. Three markers in that range mean something else: DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}
