// Reads some lines of a file of any size as a stream: other lines are only counted, and a very long line takes no more
// memory than its shown part.
import { isUtf8 } from "node:buffer"
import { read, readSync } from "node:fs"
import * as Secret from "#kernel/secret/secret.ts"

export type Window = {
  /** Numbered: "12\ttext". */
  lines: string[]
  /** Lines of the whole file; undefined if they are too many to count. */
  total: number | undefined
  crlf: boolean
}

const chunkBytes = 1 << 16
const minBuffer = 1 << 11
/** Bytes at the beginning of a file that are read synchronously. */
const maxBlocking = 1 << 18
const maxLine = 2_000
const maxLineBytes = 4 * maxLine
/** After the window, lines are counted up to here; more would take too long. */
const maxCounted = 32 << 20

type Source = {
  /** The descriptor of a file, or its content. */
  from: number | Buffer
  size: number
  encoding: "utf8" | "utf-16le" | "utf-16be"
  skip: number
  signal: AbortSignal
}
type Wanted = { start: number; maxLines: number; maxBytes: number }

export async function readWindow(options: Source & Wanted): Promise<Window> {
  const { from, size, encoding, skip, signal } = options
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size ? Math.max(size, minBuffer) : chunkBytes))
  const decoder = encoding === "utf8" ? undefined : new TextDecoder(encoding)
  const window = createWindow(options)
  for (let position = skip; ; ) {
    signal.throwIfAborted()
    const bytesRead = await readChunk(from, buffer, position)
    if (bytesRead === 0) break
    position += bytesRead
    const bytes = buffer.subarray(0, bytesRead)
    const isEnough = window.add(decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes)
    if (isEnough) return window.end(undefined)
  }
  const rest = decoder?.decode()
  if (rest) window.add(Buffer.from(rest))
  return window.end("counted")
}

/** Fills the buffer from a position of a file, and returns the number of bytes. The beginning is read synchronously,
 * which is faster than another thread; the rest does not block other work. */
export function readChunk(from: number | Buffer, buffer: Buffer, position: number): number | Promise<number> {
  if (typeof from !== "number") return from.copy(buffer, 0, position)
  const fd = from
  if (position < maxBlocking) return readSync(fd, buffer, 0, buffer.length, position)
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, position, (error, size) => (error ? reject(error) : resolve(size)))
  })
}

/** Takes UTF-8 bytes of any file. A chunk is valid only until the next one. */
function createWindow({ start, maxLines, maxBytes }: Wanted) {
  const lines: string[] = []
  let [number, shownBytes, afterBytes, lineBytes, keptBytes] = [1, 0, 0, 0, 0]
  let kept: Buffer[] = []
  let full = false
  let crlf = false

  /** Returns whether enough was read. */
  function add(chunk: Buffer): boolean {
    let at = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      endLine(chunk.subarray(at, end))
      at = end + 1
    }
    if (at < chunk.length) keep(chunk.subarray(at))
    if (full) afterBytes += chunk.length
    return afterBytes > maxCounted
  }

  function keep(part: Buffer) {
    lineBytes += part.length
    if (full || number < start || keptBytes >= maxLineBytes) return
    // A copy: the chunk's memory is reused.
    const piece = Buffer.from(part.subarray(0, maxLineBytes - keptBytes))
    keptBytes += piece.length
    kept.push(piece)
  }

  function endLine(part: Buffer) {
    if (!full && number >= start) show(part)
    kept = []
    keptBytes = 0
    lineBytes = 0
    number++
  }

  function show(part: Buffer) {
    if (kept.length) keep(part)
    else lineBytes += part.length
    const whole = kept.length ? Buffer.concat(kept, keptBytes) : part.subarray(0, maxLineBytes)
    const { text, ended } = decode(whole, lineBytes)
    const line = `${number}\t${text}`
    const bytes = Buffer.byteLength(line) + 1
    full = lines.length > 0 && shownBytes + bytes > maxBytes
    if (full) return
    lines.push(line)
    crlf ||= ended
    shownBytes += bytes
    full = lines.length >= maxLines
  }

  function end(count: "counted" | undefined): Window {
    if (count && lineBytes > 0) endLine(Buffer.alloc(0))
    return { lines, total: count ? number - 1 : undefined, crlf }
  }

  return Object.freeze({ add, end })
}

/** Line by line, so that one odd byte does not spoil a file: an invalid UTF-8 line is read as latin-1. */
function decode(bytes: Buffer, lineBytes: number): { text: string; ended: boolean } {
  const ended = bytes.length === lineBytes && bytes.at(-1) === 13
  const body = ended ? bytes.subarray(0, -1) : bytes
  const cut = bytes.length < lineBytes
  const text = isUtf8(body) || (cut && isCutUtf8(body)) ? body.toString("utf8") : body.toString("latin1")
  if (text.length <= maxLine && !cut) return { text, ended }
  const shown = Secret.cut(text, maxLine).replace(/[\ud800-\udbff]$/, "")
  return { text: `${shown}… [line cut, ${lineBytes} bytes]`, ended }
}

/** Valid except for a last character that was cut. */
function isCutUtf8(bytes: Buffer): boolean {
  return [1, 2, 3].some((missing) => isUtf8(bytes.subarray(0, -missing)))
}
