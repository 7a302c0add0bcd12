// The files of a journal: two segments that take turns, and the state, a small file with the position in the segment in
// use. All processes read and write the state under the lock. It is never synced, so opening the store reads the
// segments themselves.
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import {
  beginSegment,
  type Content,
  headerBytes,
  openSegment,
  readSegment,
  type Segment,
  shrinkSegment,
} from "./journal.ts"

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

type Written = {
  /** A commit begins at the current end of the journal. */
  begin(state: State): void
  add(path: string): void
  /** A commit has ended. If the end moves before the next `begin`, another process wrote. */
  end(state: State): void
  /** The records of a generation; undefined if another process may have written too. */
  recordsOf(generation: number): Iterable<string> | undefined
}

export type Segments = ReturnType<typeof createSegments>

const stateBytes = 32
const dirty = Buffer.alloc(stateBytes)

export function createSegments(folder: string, segmentBytes: number) {
  let current: Segment | undefined

  return Object.freeze({ readAll, read, use, begin, shrink, close })

  /** The content of both segments, the older one first. */
  function readAll(): Content[] {
    return [0, 1].flatMap((n) => readSegment(fileOf(n)) ?? []).sort((a, b) => a.generation - b.generation)
  }

  /** One generation, if it is still there. */
  function read(generation: number): Content | undefined {
    const found = readSegment(fileOf(generation))
    return found?.generation === generation ? found : undefined
  }

  /** The segment to write a generation to. */
  function use(generation: number): Segment {
    if (current?.generation === generation) return current
    return replace(openSegment(fileOf(generation), generation) ?? mend(generation))
  }

  /** Start a generation. The caller syncs the segment before anything is written to it. */
  function begin(generation: number): Segment {
    return replace(make(generation))
  }

  /** Only after the header is synced. */
  function shrink() {
    if (current) shrinkSegment(current, segmentBytes)
  }

  function close() {
    if (current) closeSync(current.fd)
    current = undefined
  }

  /** Create the segment in use again after it was damaged or removed. */
  function mend(generation: number): Segment {
    const made = make(generation)
    fdatasyncSync(made.fd)
    return made
  }

  function make(generation: number): Segment {
    return beginSegment(fileOf(generation), generation, segmentBytes)
  }

  function replace(next: Segment): Segment {
    close()
    current = next
    return next
  }

  function fileOf(generation: number): string {
    return join(folder, `segment-${generation % 2}`)
  }
}

export function openState(file: string): StateFile {
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  const { ino } = fstatSync(fd)
  const buffer = Buffer.alloc(stateBytes)
  return {
    read: () => (readSync(fd, buffer, 0, stateBytes, 0) === stateBytes ? decode(buffer) : undefined),
    write: (state) => void writeSync(fd, encode(state), 0, stateBytes, 0),
    clear: () => void writeSync(fd, dirty, 0, stateBytes, 0),
    isInPlace: () => statSync(file, { throwIfNoEntry: false })?.ino === ino,
    close: () => closeSync(fd),
  }
}

function encode(state: State): Buffer {
  const buffer = Buffer.alloc(stateBytes)
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

/** Remembers which records this process wrote to the segment in use. While no other process writes there, a checkpoint
 * need not read the segment. */
export function createWritten(): Written {
  let paths: Set<string> | undefined
  let last = { generation: 0, end: 0 }

  return Object.freeze({
    begin({ generation, end }: State) {
      if (end === headerBytes) paths = new Set()
      else if (generation !== last.generation || end !== last.end) paths = undefined
    },
    add: (path: string) => void paths?.add(path),
    end({ generation, end }: State) {
      last = { generation, end }
    },
    recordsOf: (generation: number) => (generation === last.generation ? paths : undefined),
  })
}
