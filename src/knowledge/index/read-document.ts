// Reads a document of the project safely: the open file is checked, not its name, so that no link leads out of the
// root. Only regular files with text are read, up to a limit.
import { readSync } from "node:fs"
import { errorCode, isMissing, NamedError } from "#util/error.ts"
import { openInside, PathInvalid, PathOutside } from "#util/file/resolve-inside.ts"

export type FileBytes = {
  bytes: Buffer
  /** Its real path. */
  place: string
  size: number
  mtime: number
  /** There is more of it than was read. */
  isCut: boolean
}
export type FileText = FileBytes & {
  /** With line feeds alone, and without a byte order mark. */
  text: string
}

const sampleBytes = 8_192

export class Unreadable extends NamedError {
  constructor(path: string, reason: string) {
    super("Document.Unreadable", `${JSON.stringify(path)} cannot be read: ${reason}`, { path, reason })
  }
}

/** `root` is a real path, `path` an absolute one. Throws `Unreadable`. */
export function readDocument(options: { root: string; path: string; maxBytes: number }): FileText {
  const file = readBytes(options)
  const text = decode(file.bytes, file.isCut)
  if (text === undefined) throw new Unreadable(options.path, "it is not text")
  return { ...file, text }
}

/** The same for a file that need not be text. */
export function readBytes(options: { root: string; path: string; maxBytes: number }): FileBytes {
  const { root, path, maxBytes } = options
  try {
    using handle = openInside([root], path)
    const { fd, stat, place } = handle
    if (stat.isDirectory()) throw new Unreadable(path, "it is a folder")
    const bytes = readAll(fd, Math.min(stat.size, maxBytes))
    const isCut = stat.size > bytes.length
    return { bytes, place, size: stat.size, mtime: Math.floor(stat.mtimeMs), isCut }
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(path, reasonOf(error))
  }
}

function readAll(fd: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (let got = -1; got !== 0 && at < length; at += got) got = readSync(fd, bytes, at, length - at, at)
  return bytes.subarray(0, at)
}

/** A character that the bound cuts in two is left out. */
function decode(bytes: Buffer, isCut: boolean): string | undefined {
  const encoding = encodingOf(bytes)
  if (encoding === "utf-8" && bytes.subarray(0, sampleBytes).includes(0)) return undefined
  return new TextDecoder(encoding).decode(bytes, { stream: isCut }).replaceAll(/\r\n?/g, "\n")
}

function encodingOf(bytes: Buffer): "utf-8" | "utf-16le" | "utf-16be" {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"
}

function reasonOf(error: unknown): string {
  if (error instanceof PathOutside) return `it is outside of ${error.data.root}`
  if (error instanceof PathInvalid) return String(error.data.reason)
  if (isMissing(error)) return "it does not exist"
  const code = errorCode(error)
  if (code === "ELOOP") return "its symbolic links lead in a circle"
  return code ?? (error instanceof Error ? error.message : String(error))
}
