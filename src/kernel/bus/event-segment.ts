// A segment: one file of the event log, with one frame after the other. An open segment is named after its first id. A
// full one is synced, then renamed to its first id, last id and count, so that a start need not read it.
import {
  closeSync,
  fdatasync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs"
import { basename, join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { type Place, places, wholeFrames } from "./event-frame.ts"

export type Segment = {
  path: string
  /** The offset of its first byte in the whole log. */
  base: number
  size: number
  first: number
  last: number
  count: number
  /** Set while the segment is open for writing. */
  fd?: number
  /** An id and its offset about every `indexStep` bytes. Built by the first search if the segment is of an earlier run. */
  index?: { id: number; offset: number }[]
}
export type Batch = { bytes: Buffer; first: number; last: number; count: number }

const indexStep = 64 << 10
const sealedName = /^(\d{16})-(\d{16})-(\d+)\.sse$/
const openName = /^(\d{16})\.sse$/

/** The segments of a folder, oldest first. A frame that a crash left half-written at the end of one is cut off. */
export function loadSegments(directory: string): Segment[] {
  const segments: Segment[] = []
  for (const name of readdirSync(directory).sort()) {
    const newest = segments.at(-1)
    const segment = loadSegment(join(directory, name), newest ? newest.base + newest.size : 0)
    if (!segment) continue
    if (segment.size === 0 || segment.first <= (newest?.last ?? -1)) rmSync(segment.path, { force: true })
    else segments.push(segment)
  }
  for (const segment of segments.slice(0, -1)) if (segment.index) seal(segment)
  return segments
}

function loadSegment(path: string, base: number): Segment | undefined {
  const sealed = sealedName.exec(basename(path))
  try {
    if (!sealed) return openName.test(basename(path)) ? recover(path, base) : undefined
    const [first, last, count] = [Number(sealed[1]), Number(sealed[2]), Number(sealed[3])]
    return { path, base, size: statSync(path).size, first, last, count }
  } catch (error) {
    Log.warn("a part of the event log cannot be read", { path, error: errorText(error) })
    return undefined
  }
}

export function createSegment(directory: string, base: number, first: number): Segment {
  const path = join(directory, `${pad(first)}.sse`)
  return { path, base, size: 0, first, last: first - 1, count: 0, fd: openSync(path, "w+", 0o600), index: [] }
}

/** Append a batch. If that fails, the segment is truncated to its old size. */
export function appendBatch(segment: Segment, batch: Batch): void {
  segment.fd ??= openSync(segment.path, "r+")
  const { fd, size } = segment
  try {
    for (let done = 0; done < batch.bytes.length; )
      done += writeSync(fd, batch.bytes, done, batch.bytes.length - done, size + done)
  } catch (error) {
    ftruncateSync(fd, size)
    throw error
  }
  const newest = segment.index?.at(-1)
  if (!newest || size - newest.offset >= indexStep) segment.index?.push({ id: batch.first, offset: size })
  segment.size += batch.bytes.length
  segment.last = batch.last
  segment.count += batch.count
}

/** Sync a full segment in the background, then give it its final name. */
export function finishSegment(segment: Segment, mayRename: () => boolean): void {
  const { fd } = segment
  if (fd === undefined) return
  delete segment.fd
  fdatasync(fd, (error) => {
    closeSync(fd)
    if (!error && mayRename()) seal(segment)
  })
}

/** Reads whole frames from an offset in the segment: up to `max` bytes, or one frame if it is longer. */
export function readSegment(segment: Segment, offset: number, max: number): Buffer {
  const left = segment.size - offset
  for (let length = Math.min(max, left); ; length = Math.min(length * 4, left)) {
    const bytes = readBytes(segment, offset, length)
    const whole = wholeFrames(bytes)
    if (whole > 0 || length >= left) return bytes.subarray(0, whole)
  }
}

/** The first frame after an id, and whether the id itself is there. The segment's last id must be higher. */
export function findAfter(segment: Segment, id: number): (Place & { found: boolean }) | undefined {
  segment.index ??= indexOf(readFileSync(segment.path))
  const before = segment.index.findLast((entry) => entry.id <= id)
  let found = false
  for (let offset = before?.offset ?? 0; offset < segment.size; ) {
    const bytes = readSegment(segment, offset, indexStep)
    if (bytes.length === 0) return undefined
    for (const place of places(bytes)) {
      if (place.id > id) return { ...place, start: offset + place.start, end: offset + place.end, found }
      found = place.id === id
    }
    offset += bytes.length
  }
  return undefined
}

function readBytes(segment: Segment, offset: number, length: number): Buffer {
  const fd = segment.fd ?? openSync(segment.path, "r")
  try {
    const bytes = Buffer.allocUnsafeSlow(length)
    return bytes.subarray(0, readSync(fd, bytes, 0, length, offset))
  } finally {
    if (fd !== segment.fd) closeSync(fd)
  }
}

/** Cuts off a torn tail. A power cut can leave zero bytes; frames never have any, since JSON escapes NUL. */
function recover(path: string, base: number): Segment {
  const all = readFileSync(path)
  const zero = all.indexOf(0)
  const bytes = zero < 0 ? all : all.subarray(0, zero)
  const segment: Segment = { path, base, size: 0, first: 0, last: 0, count: 0 }
  for (const place of places(bytes)) {
    if (place.id <= segment.last) break
    segment.first ||= place.id
    segment.last = place.id
    segment.size = place.end
    segment.count++
  }
  if (segment.size < all.length) truncateSync(path, segment.size)
  segment.index = indexOf(bytes.subarray(0, segment.size))
  return segment
}

function indexOf(bytes: Buffer): { id: number; offset: number }[] {
  const index: { id: number; offset: number }[] = []
  for (const { id, start } of places(bytes))
    if (start - (index.at(-1)?.offset ?? -indexStep) >= indexStep) index.push({ id, offset: start })
  return index
}

function seal(segment: Segment) {
  const path = segment.path.replace(
    /[^/\\]+$/,
    `${pad(segment.first)}-${pad(segment.last)}-${segment.count}.sse`,
  )
  try {
    renameSync(segment.path, path)
    segment.path = path
  } catch {
    // It was removed meanwhile, or the disk failed. The next start reads the whole file instead.
  }
}

function pad(id: number): string {
  return String(id).padStart(16, "0")
}
