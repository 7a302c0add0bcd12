// The kind of a file by its first bytes, and the text of a file in a raw form that goes back to disk byte for byte: one
// character per byte, or per UTF-16 unit. Texts of a call are converted to that form before they are searched or inserted.
import { isUtf8 } from "node:buffer"
import { NamedError } from "#util/error.ts"

export type TextFile = {
  encoding: "utf8" | "utf-16le" | "utf-16be" | "8-bit"
  bom: Buffer
  raw: string
  /** Half a UTF-16 character at the very end. */
  rest: Buffer
}

const sampleBytes = 8_192
const ascii = /^[\0-\x7f]*$/
const narrow = /^[\0-\xff]*$/

class NotEncodable extends NamedError {
  constructor(text: string) {
    const char = /[^\0-\xff]/u.exec(text)?.[0]
    super(
      "Tool.NotEncodable",
      `${JSON.stringify(char)} cannot be written in this file: its text is in an 8-bit encoding, not in UTF-8.`,
      { char },
    )
  }
}

export type Kind =
  | { kind: "text"; encoding: "utf8" | "utf-16le" | "utf-16be"; skip: number }
  | { kind: "binary"; name: string; mimeType: string; width?: number; height?: number }

const magic: [bytes: string, at: number, name: string, mimeType: string][] = [
  ["\x89PNG\r\n\x1a\n", 0, "PNG image", "image/png"],
  ["\xff\xd8\xff", 0, "JPEG image", "image/jpeg"],
  ["GIF8", 0, "GIF image", "image/gif"],
  ["WEBP", 8, "WebP image", "image/webp"],
  ["ftypavif", 4, "AVIF image", "image/avif"],
  ["BM", 0, "BMP image", "image/bmp"],
  ["II*\0", 0, "TIFF image", "image/tiff"],
  ["\0\0\x01\0", 0, "icon", "image/x-icon"],
  ["%PDF-", 0, "PDF document", "application/pdf"],
  ["PK\x03\x04", 0, "zip archive", "application/zip"],
  ["\x1f\x8b", 0, "gzip archive", "application/gzip"],
  ["\x7fELF", 0, "program", "application/x-elf"],
  ["\0asm", 0, "WebAssembly module", "application/wasm"],
  ["SQLite format 3\0", 0, "SQLite database", "application/vnd.sqlite3"],
  ["OggS", 0, "Ogg audio", "audio/ogg"],
  ["ID3", 0, "MP3 audio", "audio/mpeg"],
]

/** Undefined for binary files. */
export function decode(bytes: Buffer): TextFile | undefined {
  const kind = fileKind(bytes.subarray(0, sampleBytes))
  if (kind.kind === "binary") return undefined
  const bom = bytes.subarray(0, kind.skip)
  const body = bytes.subarray(kind.skip)
  if (kind.encoding === "utf8")
    return {
      encoding: isUtf8(body) ? "utf8" : "8-bit",
      bom,
      raw: body.toString("latin1"),
      rest: Buffer.alloc(0),
    }
  const even = body.length & ~1
  const units = Buffer.from(body.subarray(0, even))
  if (kind.encoding === "utf-16be") units.swap16()
  return { encoding: kind.encoding, bom, raw: units.toString("utf16le"), rest: body.subarray(even) }
}

export function encode({ encoding, bom, raw, rest }: TextFile): Buffer {
  const wide = encoding === "utf-16le" || encoding === "utf-16be"
  const body = Buffer.from(raw, wide ? "utf16le" : "latin1")
  if (encoding === "utf-16be") body.swap16()
  return Buffer.concat([bom, body, rest])
}

/** The forms that a text can have in the file. A file that is not valid UTF-8 may mix UTF-8 lines with lines that
 * `read` shows as latin-1. */
export function formsOf(file: TextFile, text: string): string[] {
  if (file.encoding.startsWith("utf-16") || ascii.test(text)) return [text]
  // Half a character would become a replacement character, which may occur in the file.
  if (!text.isWellFormed()) return []
  const bytes = Buffer.from(text).toString("latin1")
  return file.encoding === "8-bit" && narrow.test(text) ? [bytes, text] : [bytes]
}

/** The form in which a text is inserted among these lines of the file. */
export function formAmong(file: TextFile, text: string, lines: string): string {
  const forms = formsOf(file, text)
  if (file.encoding !== "8-bit" || ascii.test(text) || !isNarrow(file, lines)) return forms[0]!
  if (forms.length < 2) throw new NotEncodable(text)
  return forms[1]!
}

/** As `read` shows it: each line as UTF-8, or as latin-1 if it is invalid. */
export function toText({ encoding }: TextFile, raw: string): string {
  if (encoding.startsWith("utf-16") || ascii.test(raw)) return raw
  if (encoding === "utf8") return Buffer.from(raw, "latin1").toString("utf8")
  return raw.split("\n").map(lineText).join("\n")
}

function lineText(line: string): string {
  const bytes = Buffer.from(line, "latin1")
  return isUtf8(bytes) ? bytes.toString("utf8") : line
}

/** ASCII lines do not show the encoding; then the other lines decide. */
function isNarrow(file: TextFile, lines: string): boolean {
  if (!ascii.test(lines)) return !isUtf8(Buffer.from(lines, "latin1"))
  return !file.raw.split("\n").some((line) => !ascii.test(line) && isUtf8(Buffer.from(line, "latin1")))
}

/** Text in some encoding, or binary. */
export function fileKind(start: Buffer): Kind {
  if (start.length >= 3 && start.readUIntBE(0, 3) === 0xefbbbf)
    return { kind: "text", encoding: "utf8", skip: 3 }
  if (start.length >= 2 && start.readUInt16BE(0) === 0xfffe)
    return { kind: "text", encoding: "utf-16le", skip: 2 }
  if (start.length >= 2 && start.readUInt16BE(0) === 0xfeff)
    return { kind: "text", encoding: "utf-16be", skip: 2 }
  const text = start.toString("latin1")
  const found = magic.find(([bytes, at]) => text.startsWith(bytes, at))
  // A text may begin with a short signature by chance, but it has no NUL.
  if (found && (found[0].length > 3 || isBinary(start)))
    return { kind: "binary", name: found[2], mimeType: found[3], ...sizeOf(start, found[3]) }
  if (isBinary(start)) return { kind: "binary", name: "binary file", mimeType: "application/octet-stream" }
  return { kind: "text", encoding: "utf8", skip: 0 }
}

/** A NUL, or more control characters than a text has. */
function isBinary(bytes: Buffer): boolean {
  let controls = 0
  for (const byte of bytes) {
    if (byte === 0) return true
    if (byte < 32 && !(byte >= 7 && byte <= 13) && byte !== 27) controls++
  }
  return controls > bytes.length / 10
}

function sizeOf(bytes: Buffer, mimeType: string): { width?: number; height?: number } {
  if (mimeType === "image/png" && bytes.length >= 24)
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  if (mimeType === "image/gif" && bytes.length >= 10)
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  return {}
}
