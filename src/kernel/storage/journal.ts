// The journal's form on disk: two preallocated segment files that take turns. A segment opens with a header (its
// generation and a salt that nobody can guess), then records follow. A record counts only with the salt of its
// segment and a right checksum, so neither a torn tail nor what an older generation left behind is ever taken for one.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
  writevSync,
} from "node:fs"
import { dirname } from "node:path"
import { crc32 } from "node:zlib"
import { errorCode } from "#util/error.ts"
import { randomBytes } from "#util/id.ts"

/** `bytes` is undefined for a record that was removed. */
export type Entry = { path: string; bytes: Buffer | undefined }
export type Content = { generation: number; entries: Entry[]; end: number }
export type Segment = { fd: number; generation: number; salt: Buffer; size: number }

export const headerBytes = 32
const recordHeaderBytes = 24
const removed = 0xffff_ffff
const segmentMagic = Buffer.from("VTMNSEG1")
const recordMagic = 0x31434552
const voidMagic = 0x44494f56

/** Begin a generation in a segment file: allocate it if needed, then write the new header. Until the header is synced,
 * nothing else in the file may change: after a crash, half of the older generation would bring old values back. */
export function beginSegment(file: string, generation: number, size: number): Segment {
  if (!existsSync(file)) createFile(file)
  const segment = { fd: openSync(file, "r+"), generation, salt: randomBytes(8), size }
  try {
    allocate(segment.fd, size)
    segment.size = fstatSync(segment.fd).size
    writeSync(segment.fd, segmentHeader(generation, segment.salt), 0, headerBytes, 0)
    return segment
  } catch (error) {
    closeSync(segment.fd)
    throw error
  }
}

/** Shrink a segment that has grown. Call it only when its header is synced. */
export function shrinkSegment(segment: Segment, size: number): void {
  if (segment.size <= 4 * size) return
  ftruncateSync(segment.fd, size)
  segment.size = size
}

function createFile(file: string) {
  closeSync(openSync(file, "a", 0o600))
  const folder = openSync(dirname(file), "r")
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** If the disk is full, nothing is allocated: the segment then grows as it is written. */
function allocate(fd: number, size: number) {
  const have = fstatSync(fd).size
  if (have >= size) return
  try {
    if (writeSync(fd, Buffer.alloc(size - have), 0, size - have, have) < size - have) ftruncateSync(fd, have)
  } catch (error) {
    if (errorCode(error) !== "ENOSPC") throw error
    ftruncateSync(fd, have)
  }
  fsyncSync(fd)
}

/** Open a segment that another process began; undefined if there is none of that generation. */
export function openSegment(file: string, generation: number): Segment | undefined {
  if (!existsSync(file)) return undefined
  const fd = openSync(file, "r+")
  const bytes = Buffer.alloc(headerBytes)
  readSync(fd, bytes, 0, headerBytes, 0)
  const header = parseHeader(bytes)
  if (header?.generation === generation)
    return { fd, generation, salt: header.salt, size: fstatSync(fd).size }
  closeSync(fd)
}

/** Bytes that a record takes. */
export function recordSize(path: string, text: Buffer | undefined): number {
  return recordHeaderBytes + Buffer.byteLength(path) + (text?.length ?? 0)
}

export function writeRecord(segment: Segment, offset: number, path: string, text: Buffer | undefined): void {
  const key = Buffer.from(path)
  const header = Buffer.alloc(recordHeaderBytes)
  header.writeUInt32LE(recordMagic, 0)
  header.writeUInt32LE(key.length, 4)
  header.writeUInt32LE(text ? text.length : removed, 8)
  segment.salt.copy(header, 12)
  header.writeUInt32LE(checksum(header, key, text), 20)
  const parts = text ? [header, key, text] : [header, key]
  const expected = parts.reduce((sum, part) => sum + part.length, 0)
  const written = writevSync(segment.fd, parts, offset)
  if (written !== expected)
    throw Object.assign(new Error(`short write: ${written} of ${expected} bytes`), {
      code: "ENOSPC",
      syscall: "write",
    })
}

/** Mark a record as void, because its file could not be written. */
export function voidRecord(segment: Segment, offset: number): void {
  const magic = Buffer.alloc(4)
  magic.writeUInt32LE(voidMagic)
  writeSync(segment.fd, magic, 0, 4, offset)
}

/** All whole records of a segment file, in order, and where they end; undefined if there is no segment. */
export function readSegment(file: string): Content | undefined {
  const bytes = readIfThere(file)
  const header = bytes && parseHeader(bytes)
  if (!header) return undefined
  const entries: Entry[] = []
  let end = headerBytes
  for (let found = nextRecord(bytes, end, header.salt); found; found = nextRecord(bytes, end, header.salt)) {
    if (found.entry) entries.push(found.entry)
    end = found.end
  }
  return { generation: header.generation, entries, end }
}

/** The record at an offset or, if it is damaged, the next whole one: a bad byte must not hide what follows. */
function nextRecord(bytes: Buffer, offset: number, salt: Buffer) {
  const here = recordAt(bytes, offset, salt)
  if (here) return here
  for (let at = bytes.indexOf(salt, offset + 13); at >= 0; at = bytes.indexOf(salt, at + 1)) {
    const found = recordAt(bytes, at - 12, salt)
    if (found) return found
  }
}

function recordAt(bytes: Buffer, offset: number, salt: Buffer): { entry?: Entry; end: number } | undefined {
  const start = offset + recordHeaderBytes
  if (start > bytes.length || !bytes.subarray(offset + 12, offset + 20).equals(salt)) return undefined
  const magic = bytes.readUInt32LE(offset)
  if (magic !== recordMagic && magic !== voidMagic) return undefined
  const keyLength = bytes.readUInt32LE(offset + 4)
  const textLength = bytes.readUInt32LE(offset + 8)
  const end = start + keyLength + (textLength === removed ? 0 : textLength)
  if (end > bytes.length) return undefined
  const key = bytes.subarray(start, start + keyLength)
  const text = textLength === removed ? undefined : bytes.subarray(start + keyLength, end)
  if (checksum(bytes.subarray(offset, start), key, text) !== bytes.readUInt32LE(offset + 20)) return undefined
  return magic === voidMagic ? { end } : { entry: { path: key.toString(), bytes: text }, end }
}

function checksum(header: Buffer, key: Buffer, text: Buffer | undefined): number {
  const sum = crc32(key, crc32(header.subarray(4, 20)))
  return text ? crc32(text, sum) : sum
}

function segmentHeader(generation: number, salt: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes)
  segmentMagic.copy(header)
  header.writeUInt32LE(generation, 8)
  salt.copy(header, 12)
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20)
  return header
}

function parseHeader(bytes: Buffer): { generation: number; salt: Buffer } | undefined {
  if (bytes.length < headerBytes || !bytes.subarray(0, 8).equals(segmentMagic)) return undefined
  if (crc32(bytes.subarray(0, 20)) !== bytes.readUInt32LE(20)) return undefined
  return { generation: bytes.readUInt32LE(8), salt: Buffer.from(bytes.subarray(12, 20)) }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    throw error
  }
}
