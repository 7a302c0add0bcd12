// The two segment files of a journal: which generations they hold, and the one that is being written.
import { closeSync, fdatasyncSync } from "node:fs"
import { join } from "node:path"
import {
  beginSegment,
  type Content,
  openSegment,
  readSegment,
  type Segment,
  shrinkSegment,
} from "./journal.ts"

export type Segments = ReturnType<typeof createSegments>

export function createSegments(folder: string, segmentBytes: number) {
  let current: Segment | undefined

  return Object.freeze({ readAll, read, use, begin, shrink, close })

  /** What both hold, the older one first. */
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

  /** To be synced before anything is written to it. */
  function begin(generation: number): Segment {
    return replace(make(generation))
  }

  /** Once the header is synced. */
  function shrink() {
    if (current) shrinkSegment(current, segmentBytes)
  }

  function close() {
    if (current) closeSync(current.fd)
    current = undefined
  }

  /** Somebody has damaged or removed the segment in use. */
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
