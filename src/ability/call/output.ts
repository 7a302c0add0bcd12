// Bounds the output of a tool: the model gets the beginning and the end, with the path of a file that has the whole
// text. Memory stays at about 50 KB for any amount of output.
import { type FileHandle, mkdir, open } from "node:fs/promises"
import { join } from "node:path"
import { errorCode, errorText } from "#util/error.ts"
import { fileName, outputFolder } from "./output-folder.ts"
import { shareOutput } from "./shared-output.ts"

/** The most bytes that the model sees, including the mark of the cut. */
export const maxShown = 50_000
const maxFile = 20_000_000
/** Bytes of each end, leaving space for the mark. */
const side = (maxShown - 1_000) / 2

export type Sink = {
  /** Await it before the next chunk, which bounds memory. */
  write(chunk: string | Uint8Array): Promise<void>
  /** Reads a stream of the tool's own. Its chunks are freed at once, not at the next garbage collection. */
  read(stream: AsyncIterable<Buffer>): Promise<void>
  /** The text for the model. Call it once, at the end. */
  finish(): Promise<string>
  /** After `finish`: what the text leaves out. */
  cut(): Cut | undefined
}

/** The bytes from `from` to `to` are left out; in their place are the `note` bytes of a note. */
export type Cut = { from: number; to: number; note: number }

/** A sink for the output of one call. */
export function createOutput(call: { sessionId: string; callId: string }): Sink {
  const start = Buffer.allocUnsafe(maxShown)
  const ring = Buffer.allocUnsafe(side)
  let ringAt = 0
  let total = 0
  let lines = 0
  let file: { handle: FileHandle; path: string; bytes: number } | undefined
  let problem: string | undefined
  let leftOut: Cut | undefined

  async function write(chunk: string | Uint8Array) {
    const bytes =
      typeof chunk === "string"
        ? Buffer.from(chunk)
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === 10) lines++
    const room = Math.max(0, maxShown - total)
    bytes.copy(start, total, 0, room)
    total += bytes.length
    if (bytes.length <= room) return
    if (!file && !problem) await overflow()
    remember(bytes.subarray(room))
    await spill(bytes.subarray(room))
  }

  async function read(stream: AsyncIterable<Buffer>) {
    for await (const chunk of stream) {
      await write(chunk)
      // A chunk that is part of a larger buffer shares its memory.
      if (chunk.buffer.byteLength === chunk.byteLength) (chunk.buffer as ArrayBuffer).transfer(0)
    }
  }

  /** From here on the whole output is on disk, and only its two ends are in memory. */
  async function overflow() {
    try {
      file = await create(call)
    } catch (error) {
      problem = errorText(error)
    }
    remember(start.subarray(side))
    await spill(start)
  }

  /** The last bytes, in a ring buffer. */
  function remember(bytes: Buffer) {
    const last = bytes.subarray(-side)
    const fits = last.copy(ring, ringAt)
    last.copy(ring, 0, fits)
    ringAt = (ringAt + last.length) % side
  }

  async function spill(bytes: Buffer) {
    if (!file || problem || file.bytes >= maxFile) return
    const part = bytes.subarray(0, maxFile - file.bytes)
    try {
      for (let done = 0; done < part.length; ) done += (await file.handle.write(part, done)).bytesWritten
      file.bytes += part.length
    } catch (error) {
      problem = errorText(error)
    }
  }

  async function finish() {
    try {
      await file?.handle.close()
      if (file && !problem) await shareOutput(call.sessionId, file.path)
    } catch (error) {
      problem ??= errorText(error)
    }
    if (total <= maxShown) return start.toString("utf8", 0, total)
    const first = upToLine(start.subarray(0, side))
    const last = fromLine(Buffer.concat([ring.subarray(ringAt), ring.subarray(0, ringAt)]))
    const cut = total - first.length - last.length
    const note = `\n[… ${cut} of ${total} bytes (${lines} lines) left out; ${kept()} …]\n`
    leftOut = { from: first.length, to: total - last.length, note: Buffer.byteLength(note) }
    return `${first}${note}${last}`
  }

  function kept(): string {
    if (problem) return `the rest could not be kept: ${problem.slice(0, 200)}`
    const what = file!.bytes < total ? `the first ${file!.bytes} bytes` : "all of it"
    return `${what} in ${file!.path}, which read and grep can open`
  }

  return Object.freeze({ write, read, finish, cut: () => leftOut })
}

/** Models repeat call ids, so an existing file is never overwritten. */
async function create(call: { sessionId: string; callId: string }) {
  const folder = outputFolder(call.sessionId)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (let n = 1; ; n++) {
    const path = join(folder, `${fileName(call.callId)}${n > 1 ? `-${n}` : ""}.txt`)
    try {
      return { handle: await open(path, "wx", 0o600), path, bytes: 0 }
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error
    }
  }
}

/** Cut after a near line end, else after a whole character. */
function upToLine(bytes: Buffer): Buffer {
  const line = bytes.lastIndexOf(10)
  if (line > bytes.length - 5_000 && line > 0) return bytes.subarray(0, line)
  let end = bytes.length
  while (end > 0 && end > bytes.length - 4 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  const lead = bytes[end - 1] ?? 0
  const width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return bytes.length - end + 1 >= width ? bytes : bytes.subarray(0, end - 1)
}

function fromLine(bytes: Buffer): Buffer {
  const line = bytes.indexOf(10)
  if (line >= 0 && line < 5_000 && line + 1 < bytes.length) return bytes.subarray(line + 1)
  let start = 0
  while (start < 4 && (bytes[start]! & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
