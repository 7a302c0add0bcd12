// Reads numbers and texts of a GGUF file in order, through a buffer of one megabyte. Reading past the end of the file, or
// past the largest possible header, is refused.
import { readSync } from "node:fs"

export type GgufReader = Readonly<{
  size: number
  at(): number
  refuse(reason: string): Error
  u32(): number
  u64(): number
  count(most: number, what: string): number
  text(length: number): string
  /** A text with its length before it, such as a key. */
  string(): string
  skip(length: number): void
}>

const window = 1 << 20
const maxHeader = 256 << 20
const maxKey = 65_536

export function createGgufReader(options: {
  fd: number
  size: number
  refuse: (reason: string) => Error
}): GgufReader {
  const { fd, size, refuse } = options
  let bytes: Buffer = Buffer.alloc(0)
  let start = 0
  let position = 0

  /** Where the next `length` bytes are in the window. */
  function take(length: number): number {
    const from = position
    skip(length)
    if (from < start || position > start + bytes.length) {
      const buffer = Buffer.alloc(Math.min(Math.max(window, length), size - from))
      bytes = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from))
      start = from
      if (bytes.length < length) throw refuse("it became shorter while it was read")
    }
    return from - start
  }

  function skip(length: number): void {
    if (!(length <= size - position)) throw refuse(`it breaks off after ${size} bytes, within its header`)
    position += length
    if (position > maxHeader) throw refuse(`its header is longer than ${maxHeader >> 20} MB`)
  }

  function u32(): number {
    const at = take(4)
    return bytes.readUInt32LE(at)
  }

  function u64(): number {
    const at = take(8)
    return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32
  }

  function count(most: number, what: string): number {
    const value = u64()
    if (value > most) throw refuse(`it claims to have ${value} ${what}`)
    return value
  }

  function text(length: number): string {
    const at = take(length)
    return bytes.toString("utf8", at, at + length)
  }

  return Object.freeze({
    size,
    at: () => position,
    refuse,
    u32,
    u64,
    count,
    text,
    string: () => text(count(maxKey, "letters in a name")),
    skip,
  })
}
