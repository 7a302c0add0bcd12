// The event log stores events on disk, so that clients can replay them exactly, also after a restart or `kill -9`.
// Events are SSE frames in segment files and are copied as bytes. Readers use offsets in the whole log; an id is looked
// up only when a client reconnects. If the disk fails, some events cannot be replayed; live events still arrive.
import { existsSync, rmSync } from "node:fs"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { type Gap, gapFrame } from "./event-frame.ts"
import {
  appendBatch,
  type Batch,
  createSegment,
  findAfter,
  finishSegment,
  loadSegments,
  readSegment,
  type Segment,
} from "./event-segment.ts"
import { type Slot, takeSlot } from "./event-slot.ts"
import type { Event } from "./global-bus.ts"

export type EventLog = Readonly<{
  /** The last id; new ids continue after it. */
  lastId(): number
  /** The offset after the last event. */
  end(): number
  /** Store complete frames. They are readable when it returns. */
  append(batch: Batch): void
  /** Where to continue reading after an id, and whether events are missing. Undefined for an id that was never
   * assigned here. */
  locate(id: number): Located | undefined
  /** Complete frames from an offset, and the next offset. Undefined if they are no longer stored. */
  read(offset: number, max: number): Part | undefined
  close(): void
}>

export type Located = { offset: number; gap?: Gap }
export type Part = { bytes: Buffer; next: number }
/** Events that are sent together: `live` has all of them, `kept` those that are stored from the offset `start` on. */
export type Tick = { start: number; live: Buffer; kept: Buffer }

/** A log that several servers share. It numbers events, and delivers those of all servers. */
export type SharedEventLog = Readonly<
  Pick<EventLog, "lastId" | "end"> & {
    publish(event: Event): void
    /** `deliver` gets every event from now on, once, in the order of ids. */
    follow(deliver: (tick: Tick) => void): void
    /** Whether somebody follows. Other servers send their live events only then. */
    watch(isWatched: boolean): void
    locate(id: number): Promise<Located | undefined>
    read(offset: number, max: number): Promise<Part | undefined>
    close(): Promise<void>
  }
>

const gapBytes = 256
const retryEvery = 1000

/** Opens the first free slot in `directory`. At least `maxEvents` events or `maxBytes` bytes stay readable. */
export function createEventLog(options: {
  directory: string
  maxEvents?: number
  maxBytes?: number
  segmentBytes?: number
  reserve?: number
}): EventLog {
  const { maxEvents = 20_000, maxBytes = 64 << 20, segmentBytes = 4 << 20, reserve = 10_000 } = options
  const slot = openSlot(options.directory)
  const segments = slot ? loadSegments(slot.directory) : []
  const lastKept = segments.at(-1)?.last ?? 0
  // Without a disk, ids start at a number that no log on disk reaches, so that an old cursor never matches by chance.
  const floor = slot?.floor ?? Date.now() * 1000
  const openedAt = Math.max(slot?.reserved ?? floor, lastKept)
  let lastId = openedAt
  let ceiling = 0
  let firstOfRun: number | undefined
  let active = segments.at(-1)
  let lostAfter = slot?.complete === false ? lastKept : undefined
  // If events were lost, the gap frame needs space.
  let end = (active ? active.base + active.size : 0) + (lostAfter === undefined ? 0 : gapBytes)
  let retryAt = 0
  let closed = false

  function append(batch: Batch) {
    if (slot && !closed && performance.now() >= retryAt)
      try {
        write(slot, batch)
        retryAt = 0
      } catch (error) {
        giveUp(slot, error)
      }
    end += batch.bytes.length
    lastId = batch.last
    firstOfRun ??= batch.first
  }

  function write(own: Slot, batch: Batch) {
    if (!own.isOurs() || (active && !existsSync(active.path))) startAgain(own)
    if (batch.last + reserve / 10 > ceiling) {
      own.reserve(batch.last + reserve)
      ceiling = batch.last + reserve
    }
    if (active && (active.size >= segmentBytes || lostAfter !== undefined)) roll()
    const marked = lostAfter === undefined ? batch : withGap(batch, lostAfter)
    if (!active) {
      active = createSegment(own.directory, end + batch.bytes.length - marked.bytes.length, marked.first)
      segments.push(active)
    }
    appendBatch(active, marked)
    lostAfter = undefined
  }

  /** Continues after files of the log were removed while in use: their events are lost, later ones are stored. */
  function startAgain(own: Slot) {
    const gone = own.isOurs() ? segments.filter(({ path }) => !existsSync(path)) : [...segments]
    if (gone[0]) lostAfter = Math.min(lostAfter ?? lastId, gone[0].first - 1)
    for (const segment of gone) forget(segment)
    ceiling = 0
    own.restore()
    if (retryAt > 0) return
    Log.warn("files of the event log were removed; their events can no longer be replayed, new ones can", {
      directory: own.directory,
    })
  }

  function giveUp(failed: Slot, error: unknown) {
    if (retryAt === 0)
      Log.warn("events cannot be stored for replay; clients that reconnect may miss some", {
        directory: failed.directory,
        error: errorText(error),
      })
    retryAt = performance.now() + retryEvery
    lostAfter ??= lastId
    ceiling = 0
    try {
      failed.markIncomplete()
      if (active?.size === 0) remove(active)
    } catch {
      // The folder is read-only or gone; the warning above has said so.
    }
  }

  function roll() {
    if (active) finishSegment(active, () => !closed)
    active = undefined
    let events = segments.reduce((sum, { count }) => sum + count, 0)
    let bytes = segments.reduce((sum, { size }) => sum + size, 0)
    for (const segment of [...segments]) {
      events -= segment.count
      bytes -= segment.size
      if (events < maxEvents && bytes < maxBytes) return
      remove(segment)
    }
  }

  function remove(segment: Segment) {
    forget(segment)
    rmSync(segment.path, { force: true })
  }

  function forget(segment: Segment) {
    segments.splice(segments.indexOf(segment), 1)
    if (segment === active) active = undefined
    finishSegment(segment, () => false)
  }

  function locate(id: number): Located | undefined {
    if (id > lastId || id < floor) return undefined
    if (id === lastId || (id >= openedAt && firstOfRun === undefined)) return { offset: end }
    const segment = segments.find(({ last }) => last > id)
    const atEdge = segments.some(({ last }) => last === id)
    if (!segment && atEdge && lostAfter === undefined) return { offset: end }
    const next = segment && readSafely(() => findAfter(segment, id))
    if (!segment || !next) return { offset: end, gap: { after: id, from: lastId + 1 } }
    // The frame lies where readers that were faster have the lost events.
    if (next.gap) return { offset: segment.base + next.end, gap: { after: id, from: next.id + 1 } }
    const offset = segment.base + next.start
    const known = next.found || atEdge
    const quiet = id >= openedAt && next.id === firstOfRun
    if (known || quiet || next.id === id + 1) return { offset }
    return { offset, gap: { after: id, from: next.id } }
  }

  function read(offset: number, max: number) {
    const kept = segments[0]
    if (!kept || offset < kept.base) return undefined
    // Between two segments lie events that could not be written; the second one starts with a gap frame.
    const segment = segments.find(({ base, size }) => offset < base + size)
    if (!segment) return undefined
    const from = Math.max(offset, segment.base)
    const bytes = readSafely(() => readSegment(segment, from - segment.base, max))
    return bytes?.length ? { bytes, next: from + bytes.length } : undefined
  }

  function close() {
    if (closed) return
    closed = true
    if (active) finishSegment(active, () => false)
    try {
      // Otherwise the next run would assign ids that clients already have.
      if (slot?.isOurs() === false) slot.restore()
      slot?.release(lastId)
    } catch (error) {
      Log.warn("the event log could not be closed cleanly", { error: errorText(error) })
    }
  }

  return Object.freeze({ lastId: () => lastId, end: () => end, append, locate, read, close })
}

function openSlot(directory: string): Slot | undefined {
  try {
    return takeSlot(directory)
  } catch (error) {
    Log.warn("events are not kept for replay: their folder cannot be used", {
      directory,
      error: errorText(error),
    })
    return undefined
  }
}

/** Puts a gap frame in front of the batch, under the id of the last lost event. */
function withGap(batch: Batch, lostAfter: number): Batch {
  const gap = gapFrame({ after: lostAfter, from: batch.first })
  return {
    bytes: Buffer.concat([gap, batch.bytes]),
    first: batch.first - 1,
    last: batch.last,
    count: batch.count,
  }
}

/** A segment that cannot be read counts as removed. */
function readSafely<T>(reading: () => T): T | undefined {
  try {
    return reading()
  } catch (error) {
    Log.warn("a part of the event log cannot be read", { error: errorText(error) })
    return undefined
  }
}
