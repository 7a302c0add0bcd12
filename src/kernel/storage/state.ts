// Where the journal stands, shared by the processes that have it open, in one small file that is read and written
// under the lock. It is never synced and never believed at an open: what the journal itself says counts.
import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { crc32 } from "node:zlib"

/** `end` and `records` are of the segment in use. Generations up to `checkpoint` are synced in the record files, so
 * their segment can be used again. */
export type State = { generation: number; end: number; records: number; checkpoint: number }

export type StateFile = {
  read(): State | undefined
  write(state: State): void
  /** From here to the next write nobody may rely on it: whoever dies in between leaves work to recover. */
  clear(): void
  /** Whether the file is still where it was; else somebody has removed the store under us. */
  isInPlace(): boolean
  close(): void
}

const bytes = 32
const nothing = Buffer.alloc(bytes)

export function openState(file: string): StateFile {
  closeSync(openSync(file, "a", 0o600))
  const fd = openSync(file, "r+")
  const { ino } = fstatSync(fd)
  const buffer = Buffer.alloc(bytes)
  return {
    read: () => (readSync(fd, buffer, 0, bytes, 0) === bytes ? decode(buffer) : undefined),
    write: (state) => void writeSync(fd, encode(state), 0, bytes, 0),
    clear: () => void writeSync(fd, nothing, 0, bytes, 0),
    isInPlace: () => statSync(file, { throwIfNoEntry: false })?.ino === ino,
    close: () => closeSync(fd),
  }
}

function encode(state: State): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUInt32LE(state.generation, 4)
  buffer.writeUInt32LE(state.checkpoint, 8)
  buffer.writeUInt32LE(state.records, 12)
  buffer.writeDoubleLE(state.end, 16)
  buffer.writeUInt32LE(crc32(buffer.subarray(4)), 0)
  return buffer
}

function decode(buffer: Buffer): State | undefined {
  if (crc32(buffer.subarray(4)) !== buffer.readUInt32LE(0)) return undefined
  return {
    generation: buffer.readUInt32LE(4),
    checkpoint: buffer.readUInt32LE(8),
    records: buffer.readUInt32LE(12),
    end: buffer.readDoubleLE(16),
  }
}
