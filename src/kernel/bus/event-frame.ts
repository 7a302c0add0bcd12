// An event on the wire and on disk: one SSE frame. The data is one line of JSON, so a blank line always ends a frame.
// Frames are found, filtered and copied as bytes, and never parsed again.
import type { Event } from "./global-bus.ts"

export type Gap = { after: number | string; from: number }
/** Where a frame lies in a buffer. A `gap` frame stands for events that were lost before it. */
export type Place = { id: number; start: number; end: number; gap: boolean }

const end = Buffer.from("\n\n")
const gapLine = Buffer.from("event: gap\n")
const directoryField = Buffer.from(',"directory":')

export function frameOf(event: Event): string {
  const { id, type } = event
  if (id === undefined) return `event: ${type}\ndata: ${bodyOf(event)}\n\n`
  return numberedFrame(id, { type, body: bodyOf(event) })
}

/** The data of an event without its id. */
export function bodyOf({ type, time, directory, payload }: Event): string {
  return JSON.stringify({ type, time, directory, payload })
}

/** The frame of an event that gets its id now. The type "gap" stands for events that were lost before it. */
export function numberedFrame(id: number, { type, body }: { type: string; body: string }): string {
  if (type === "gap") return gapFrame({ after: id - 1, from: id + 1 }).toString()
  return `id: ${id}\nevent: ${type}\ndata: {"id":${id},${body.slice(1)}\n\n`
}

/** Tells a client that events are missing. A client that continues from its id misses nothing more. */
export function gapFrame(gap: Gap): Buffer {
  const data = JSON.stringify({ type: "gap", ...gap })
  return Buffer.from(`id: ${gap.from - 1}\nevent: gap\ndata: ${data}\n\n`)
}

/** The numbered frames of a buffer that starts at a frame. Stops at the first byte that cannot belong to a frame. */
export function* places(bytes: Buffer, from = 0): Generator<Place> {
  for (let start = from; ; ) {
    const id = idAt(bytes, start)
    const stop = id === undefined ? -1 : bytes.indexOf(end, start)
    if (id === undefined || stop < 0) return
    const next = stop + end.length
    yield { id, start, end: next, gap: isGap(bytes, start) }
    start = next
  }
}

/** How many bytes of a buffer are whole frames. */
export function wholeFrames(bytes: Buffer): number {
  const at = bytes.lastIndexOf(end)
  return at < 0 ? 0 : at + end.length
}

/** A function that keeps the frames of one directory, and gaps, which concern everybody. */
export function createDirectoryFilter(directory: string): (bytes: Buffer) => Buffer {
  const wanted = Buffer.from(`,"directory":${JSON.stringify(directory)}`)
  return (bytes) => {
    const kept: Buffer[] = []
    for (let start = 0; start < bytes.length; ) {
      const stop = bytes.indexOf(end, start)
      const next = stop < 0 ? bytes.length : stop + end.length
      const frame = bytes.subarray(start, next)
      if (belongs(frame, wanted) || isGap(bytes, start)) kept.push(frame)
      start = next
    }
    return kept.length === 1 ? kept[0]! : Buffer.concat(kept)
  }
}

/** Compares the first `directory` field: it is the event's own, because only `id`, `type` and `time` come before it. */
function belongs(frame: Buffer, wanted: Buffer): boolean {
  const at = frame.indexOf(directoryField)
  return at >= 0 && frame.subarray(at, at + wanted.length).equals(wanted)
}

function isGap(bytes: Buffer, start: number): boolean {
  const line = bytes.indexOf(10, start) + 1
  return bytes.subarray(line, line + gapLine.length).equals(gapLine)
}

/** The number in `id: 42\n` at an offset; undefined if there is none. */
function idAt(bytes: Buffer, start: number): number | undefined {
  if (bytes.toString("latin1", start, start + 4) !== "id: ") return undefined
  let id = 0
  for (let at = start + 4; ; at++) {
    const digit = (bytes[at] ?? 0) - 48
    if (bytes[at] === 10 && at > start + 4) return id
    if (digit < 0 || digit > 9 || at > start + 20) return undefined
    id = id * 10 + digit
  }
}
