// Some lines of a file of any size, read as a stream: what is not shown is only counted, and a line without an end
// costs no more than what is shown of it.
import { isUtf8 } from "node:buffer"
import type { FileHandle } from "node:fs/promises"

export type Window = {
  /** Numbered: "12\ttext". */
  lines: string[]
  /** Lines of the whole file; undefined where it goes on for long after the window. */
  total: number | undefined
  crlf: boolean
}

const chunkBytes = 1 << 16
const maxLine = 2_000
const maxLineBytes = 4 * maxLine
/** After the window, lines are counted up to here; more would only be waited for. */
const maxCounted = 32 << 20

export async function readWindow(options: {
  handle: FileHandle
  encoding: "utf8" | "utf-16le" | "utf-16be"
  skip: number
  start: number
  maxLines: number
  maxBytes: number
  signal: AbortSignal
}): Promise<Window> {
  const { start, maxLines, maxBytes } = options
  const lines: string[] = []
  let [number, shownBytes, afterBytes, lineBytes, keptBytes] = [1, 0, 0, 0, 0]
  let kept: Buffer[] = []
  let full = false
  let crlf = false

  function add(part: Buffer) {
    lineBytes += part.length
    if (full || number < start || keptBytes >= maxLineBytes || part.length === 0) return
    // A copy: the chunk's memory is used again.
    const piece = Buffer.from(part.subarray(0, maxLineBytes - keptBytes))
    keptBytes += piece.length
    kept.push(piece)
  }

  function endLine() {
    if (!full && number >= start) {
      const { text, ended } = decode(Buffer.concat(kept, keptBytes), lineBytes)
      const line = `${number}\t${text}`
      const bytes = Buffer.byteLength(line) + 1
      full = lines.length > 0 && shownBytes + bytes > maxBytes
      if (!full) {
        lines.push(line)
        crlf ||= ended
        shownBytes += bytes
        full = lines.length >= maxLines
      }
    }
    kept = []
    keptBytes = 0
    lineBytes = 0
    number++
  }

  for await (const chunk of chunks(options)) {
    let at = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      add(chunk.subarray(at, end))
      endLine()
      at = end + 1
    }
    add(chunk.subarray(at))
    if (full) afterBytes += chunk.length
    if (afterBytes > maxCounted) return { lines, total: undefined, crlf }
  }
  if (lineBytes > 0) endLine()
  return { lines, total: number - 1, crlf }
}

/** UTF-8 bytes, whatever the file has. Each chunk is only good until the next one. */
async function* chunks(options: {
  handle: FileHandle
  encoding: string
  skip: number
  signal: AbortSignal
}): AsyncGenerator<Buffer> {
  const { handle, encoding, signal } = options
  const buffer = Buffer.allocUnsafe(chunkBytes)
  const decoder = encoding === "utf8" ? undefined : new TextDecoder(encoding)
  for (let position = options.skip; ; ) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position)
    if (bytesRead === 0) break
    position += bytesRead
    const bytes = buffer.subarray(0, bytesRead)
    yield decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes
  }
  const rest = decoder?.decode()
  if (rest) yield Buffer.from(rest)
}

/** Line by line, so that one odd byte does not spoil a file: what is no UTF-8 is taken for latin-1. */
function decode(bytes: Buffer, lineBytes: number): { text: string; ended: boolean } {
  const ended = bytes.length === lineBytes && bytes.at(-1) === 13
  const body = ended ? bytes.subarray(0, -1) : bytes
  const cut = bytes.length < lineBytes
  const text = isUtf8(body) || (cut && isCutUtf8(body)) ? body.toString("utf8") : body.toString("latin1")
  if (text.length <= maxLine && !cut) return { text, ended }
  const shown = text.slice(0, maxLine).replace(/[\ud800-\udbff]$/, "")
  return { text: `${shown}… [line cut, ${lineBytes} bytes]`, ended }
}

/** Valid up to a last character that was cut. */
function isCutUtf8(bytes: Buffer): boolean {
  return [1, 2, 3].some((missing) => isUtf8(bytes.subarray(0, -missing)))
}
