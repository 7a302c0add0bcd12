// Detects the image format by content, never by name or claimed type. The size is read from the header and bounded
// before any pixel is decompressed, because a small file may claim to be a huge image.
import { fileKind } from "#ability/file/text-file.ts"
import { ImageInvalid } from "./errors.ts"
import { readGif } from "./read-gif.ts"
import { readJpeg } from "./read-jpeg.ts"
import { checkPixels, readPng } from "./read-png.ts"
import { readWebp } from "./read-webp.ts"

/** The facts from the structure of a file. `pixels` is the sum over all frames of an animation. */
export type Shape = { width: number; height: number; frames: number; pixels: number }
export type Format = Shape & { mimeType: `image/${"png" | "jpeg" | "webp" | "gif"}` }

export const maxBytes = 20_000_000
const maxPixels = 50_000_000
/** The limit for all frames of an animation together. */
const maxMoving = 200_000_000
const maxSide = 30_000
const maxFrames = 500
const sampleBytes = 8_192

const readers: [magic: RegExp, mimeType: Format["mimeType"], read: (bytes: Buffer) => Shape][] = [
  [/^\x89PNG\r\n\x1a\n/, "image/png", readPng],
  [/^\xff\xd8\xff/, "image/jpeg", readJpeg],
  [/^GIF8[79]a/, "image/gif", readGif],
  [/^RIFF.{4}WEBP/s, "image/webp", readWebp],
]

/** Throws `ImageInvalid` unless it is one complete PNG, JPEG, WebP or GIF of acceptable size. */
export async function imageFormat(bytes: Buffer): Promise<Format> {
  if (bytes.length > maxBytes) throw tooLong(bytes.length)
  const start = bytes.toString("latin1", 0, sampleBytes)
  const found = readers.find(([magic]) => magic.test(start))
  if (!found) throw new ImageInvalid(`${nameOf(bytes, start)}. PNG, JPEG, WebP and GIF are read.`)
  const [, mimeType, read] = found
  const shape = read(bytes)
  bound(shape)
  if (mimeType === "image/png") await checkPixels(bytes)
  return { ...shape, mimeType }
}

export function tooLong(bytes: number): ImageInvalid {
  return new ImageInvalid(`it has ${bytes} bytes, and at most ${maxBytes} are read.`)
}

function bound({ width, height, frames, pixels }: Shape): void {
  const size = `${width} × ${height} pixels`
  if (width < 1 || height < 1) throw new ImageInvalid(`it says that it has ${size}.`)
  if (width > maxSide || height > maxSide)
    throw new ImageInvalid(`it has ${size}, and a side may have ${maxSide}.`)
  if (width * height > maxPixels)
    throw new ImageInvalid(`it has ${size}, and at most ${maxPixels / 1e6} million are read.`)
  if (frames > maxFrames) throw new ImageInvalid(`it has more than ${maxFrames} pictures.`)
  if (pixels > maxMoving)
    throw new ImageInvalid(
      `its ${frames} pictures have more than ${maxMoving / 1e6} million pixels together.`,
    )
}

function nameOf(bytes: Buffer, start: string): string {
  if (!bytes.length) return "it is empty"
  const text = start.replace(/^\xef\xbb\xbf/, "").trimStart()
  if (/^<!doctype html|^<(html|head|body)\b/i.test(text)) return "it is a web page, not an image"
  if (/^(<\?xml|<!doctype svg|<!--|<svg\b)/i.test(text) && /<svg\b/i.test(text))
    return "it is an SVG drawing, which is text: refer to it as a file, or turn it into a PNG"
  const kind = fileKind(bytes.subarray(0, sampleBytes))
  return kind.kind === "text" ? "it is text, not an image" : `it is of another kind (${kind.name})`
}
