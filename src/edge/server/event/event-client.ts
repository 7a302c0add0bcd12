// One client of the event stream: a cursor and nothing else. It reads the shared ring while it keeps up, the event log
// while it is behind, and has at most one chunk under way, so a client that does not read costs next to nothing.
import { createDirectoryFilter, gapFrame } from "#kernel/bus/event-frame.ts"
import type { EventLog } from "#kernel/bus/event-log.ts"
import type { EventRing } from "./event-ring.ts"
import type { Sink } from "./event-sink.ts"

export type EventClient = Readonly<{
  /** Send pending events, as far as the client reads them. */
  pump(): void
  drained(): void
  /** Must be called regularly, with `performance.now()`: keeps an idle connection open, and returns whether the
   * client has stopped reading. */
  check(now: number): "stalled" | undefined
  stop(): void
}>

const chunk = 64 << 10

export function createEventClient(options: {
  log: EventLog
  ring: EventRing
  sink: Sink
  lastEventId?: string
  directory?: string
  heartbeat: number
  stall: number
  /** Called when what the client should get next is no longer kept; it can come back with its cursor. */
  cutOff: () => void
}): EventClient {
  const { log, ring, sink, heartbeat, stall } = options
  const filter = options.directory === undefined ? undefined : createDirectoryFilter(options.directory)
  let offset = log.end()
  /** The ring entry to send next, while the client keeps up. */
  let number: number | undefined = ring.next()
  let blockedSince: number | undefined
  let wroteAt = performance.now()
  let soon: NodeJS.Immediate | undefined
  let stopped = false

  write(Buffer.from("retry: 1000\n\n"))
  if (options.lastEventId !== undefined) resume(options.lastEventId)

  function resume(cursor: string) {
    const place = isId(cursor) ? log.locate(Number(cursor)) : undefined
    if (!place) return write(gapFrame({ after: shown(cursor), from: log.lastId() + 1 }))
    if (place.gap) write(gapFrame(place.gap))
    if (place.offset === offset) return
    offset = place.offset
    number = undefined
  }

  function pump() {
    while (!stopped && blockedSince === undefined && soon === undefined) {
      const fromRing = nextOfRing()
      if (fromRing) write(filter ? filter(fromRing) : fromRing)
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
    const rest = offset === entry.start ? entry.live : entry.kept.subarray(offset - entry.start)
    number = entry.number + 1
    offset = entry.end
    return rest
  }

  /** One chunk, then the others have their turn. */
  function readLog() {
    const part = log.read(offset, chunk)
    if (!part) {
      stopped = true
      return options.cutOff()
    }
    offset = part.next
    write(filter ? filter(part.bytes) : part.bytes)
    if (blockedSince === undefined && !stopped)
      soon = setImmediate(() => {
        soon = undefined
        pump()
      })
  }

  /** Whoever follows one directory has its cursor moved past the events of others: they are not missing to it. */
  function heartbeatBlock(): Buffer {
    return Buffer.from(filter ? `: heartbeat\nid: ${log.lastId()}\n\n` : ": heartbeat\n\n")
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
      if (number !== undefined && now - wroteAt >= heartbeat) write(heartbeatBlock())
      return undefined
    },
    stop() {
      stopped = true
      clearImmediate(soon)
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
