// The position of the journal, shared by the processes that have it open: a small file, read and written under the
// lock. It is never synced and not trusted at an open: the journal itself counts.
import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { crc32 } from "node:zlib"

/** `end` and `records` refer to the segment in use. Generations up to `checkpoint` are synced to the record files, so
 * their segment can be reused. */
export type State = { generation: number; end: number; records: number; checkpoint: number }

export type StateFile = {
  read(): State | undefined
  write(state: State): void
  /** Marks the state as dirty until the next write: a process that dies in between leaves work for recovery. */
  clear(): void
  /** Whether the file is still there; if not, somebody has removed the store. */
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
