// One client of the event stream. It holds only a cursor: it reads the shared ring while it keeps up, and the event log
// while it is behind. At most one chunk is in flight, so a client that does not read needs almost no memory.
import { createDirectoryFilter, gapFrame } from "#kernel/bus/event-frame.ts"
import type { EventLog, Located, Part, SharedEventLog } from "#kernel/bus/event-log.ts"
import type { EventRing } from "./event-ring.ts"
import type { Sink } from "./event-sink.ts"

export type EventClient = Readonly<{
  /** Send pending events, as far as the client reads them. */
  pump(): void
  drained(): void
  /** Must be called regularly with `performance.now()`. Sends a heartbeat on an idle connection, and returns "stalled" if
   * the client has stopped reading. */
  check(now: number): "stalled" | undefined
  stop(): void
}>

const chunkSize = 64 << 10

export function createEventClient(options: {
  log: Pick<EventLog | SharedEventLog, "end" | "lastId" | "locate" | "read">
  ring: EventRing
  sink: Sink
  lastEventId?: string
  directory?: string
  /** Keeps the frames that the client may see. */
  filter?: (frames: Buffer) => Promise<Buffer>
  heartbeat: number
  stall: number
  /** Called when the client's next events are no longer in the log. The client can reconnect with its cursor. */
  cutOff: () => void
}): EventClient {
  const { log, ring, sink, heartbeat, stall } = options
  const ofDirectory = options.directory === undefined ? undefined : createDirectoryFilter(options.directory)
  const isFiltered = ofDirectory !== undefined || options.filter !== undefined
  let offset = log.end()
  const newest = log.lastId()
  /** The ring entry to send next; undefined while the client reads from the log. */
  let number: number | undefined = ring.next()
  let blockedSince: number | undefined
  let wroteAt = performance.now()
  let nextRead: NodeJS.Immediate | undefined
  /** Answers of a shared log or of the filter that are awaited; nothing else is sent meanwhile. */
  let asking = 0
  let stopped = false

  write(Buffer.from("retry: 1000\n\n"))
  if (options.lastEventId !== undefined) resume(options.lastEventId)

  function resume(cursor: string) {
    answered(isId(cursor) ? log.locate(Number(cursor)) : undefined, (place) => resumeAt(cursor, place))
  }

  function resumeAt(cursor: string, place: Located | undefined) {
    if (!place) return write(gapFrame({ after: shown(cursor), from: newest + 1 }))
    if (place.gap) write(gapFrame(place.gap))
    if (place.offset === offset) return
    offset = place.offset
    number = undefined
  }

  /** A shared log answers later. If it cannot, the client has to connect again. */
  function answered<T>(answer: T | Promise<T>, take: (value: T) => void) {
    if (!(answer instanceof Promise)) return take(answer)
    asking++
    answer
      .then(
        (value) => {
          if (!stopped) take(value)
        },
        () => cutOff(),
      )
      .finally(() => {
        asking--
        pump()
      })
  }

  function cutOff() {
    stopped = true
    options.cutOff()
  }

  function pump() {
    while (!stopped && asking === 0 && blockedSince === undefined && nextRead === undefined) {
      const fromRing = nextOfRing()
      if (fromRing) send(fromRing)
      else if (number !== undefined) return
      else readLog()
    }
  }

  function nextOfRing(): Buffer | undefined {
    if (number !== undefined) {
      const entry = ring.get(number)
      if (entry) {
        number = entry.number + 1
        offset = entry.end
        return entry.live
      }
      if (number >= ring.next()) return undefined
      number = undefined
    }
    if (offset === log.end()) {
      number = ring.next()
      return undefined
    }
    const entry = ring.find(offset)
    if (!entry) return undefined
    // Without live events: those of the beginning may be older than the cursor.
    const rest = entry.kept.subarray(offset - entry.start)
    number = entry.number + 1
    offset = entry.end
    return rest
  }

  /** Sends one chunk per tick, so that other clients are served too. */
  function readLog() {
    answered(log.read(offset, chunkSize), sendPart)
  }

  function sendPart(part: Part | undefined) {
    if (!part) return cutOff()
    offset = part.next
    send(part.bytes)
    if (blockedSince === undefined && !stopped)
      nextRead = setImmediate(() => {
        nextRead = undefined
        pump()
      })
  }

  function send(frames: Buffer) {
    const own = ofDirectory ? ofDirectory(frames) : frames
    if (!options.filter || own.length === 0) return write(own)
    answered(options.filter(own), write)
  }

  /** The heartbeat of a client that gets some of the events has an id: it moves the cursor past the others, so that they do
   * not count as a gap. */
  function heartbeatBlock(): Buffer {
    return Buffer.from(isFiltered ? `: heartbeat\nid: ${log.lastId()}\n\n` : ": heartbeat\n\n")
  }

  function write(bytes: Buffer) {
    if (bytes.length === 0 || stopped) return
    wroteAt = performance.now()
    if (!sink.write(bytes)) blockedSince = wroteAt
  }

  return Object.freeze({
    pump,
    drained() {
      blockedSince = undefined
      pump()
    },
    check(now) {
      if (blockedSince !== undefined) return now - blockedSince >= stall ? "stalled" : undefined
      if (number !== undefined && asking === 0 && now - wroteAt >= heartbeat) write(heartbeatBlock())
      return undefined
    },
    stop() {
      stopped = true
      clearImmediate(nextRead)
    },
  })
}

function isId(cursor: string): boolean {
  return /^\d+$/.test(cursor) && Number.isSafeInteger(Number(cursor))
}

function shown(cursor: string): number | string {
  const number = Number(cursor)
  return String(number) === cursor ? number : cursor.slice(0, 100)
}
