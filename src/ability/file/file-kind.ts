// Detects the kind of a file by its first bytes: text in some encoding, or binary.
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

export function fileKind(start: Buffer): Kind {
  if (start.length >= 3 && start.readUIntBE(0, 3) === 0xefbbbf)
    return { kind: "text", encoding: "utf8", skip: 3 }
  if (start.length >= 2 && start.readUInt16BE(0) === 0xfffe)
    return { kind: "text", encoding: "utf-16le", skip: 2 }
  if (start.length >= 2 && start.readUInt16BE(0) === 0xfeff)
    return { kind: "text", encoding: "utf-16be", skip: 2 }
  const text = start.toString("latin1")
  const found = magic.find(([bytes, at]) => text.startsWith(bytes, at))
  // A text may begin with these two letters by chance, but it has no NUL.
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
