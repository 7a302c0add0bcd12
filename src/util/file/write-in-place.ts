// A file's whole content written into the file itself, which keeps its inode and so all of its names. Unlike a rename it
// can be cut off halfway; `isMixOf` recognises what is left then.
import { fstatSync, ftruncateSync, writeSync } from "node:fs"

/** What is longer goes first: a full disk is noticed before anything is lost. */
export function writeInPlace(fd: number, bytes: Buffer): void {
  const size = fstatSync(fd).size
  writeAll(fd, bytes.subarray(size), size)
  writeAll(fd, bytes.subarray(0, size), 0)
  ftruncateSync(fd, bytes.length)
}

export function writeAll(fd: number, bytes: Buffer, from: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, from + done)
}

/** Whether every byte stands at its place in one of the two versions, and no byte is missing that both have. */
export function isMixOf(bytes: Buffer, one: Buffer, other: Buffer): boolean {
  if (bytes.length < Math.min(one.length, other.length)) return false
  return bytes.every((byte, i) => byte === one[i] || byte === other[i])
}
