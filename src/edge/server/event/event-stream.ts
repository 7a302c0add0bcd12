// Sends the events of this process to the clients of GET /event. The frames of one tick are appended to the event log
// before they are sent, so everything that a client has received can be replayed.
import type { EventLog, SharedEventLog, Tick } from "#kernel/bus/event-log.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import * as Log from "#kernel/process/log.ts"
import { createEventBatch } from "./event-batch.ts"
import { createEventClient, type EventClient } from "./event-client.ts"
import { createEventRing } from "./event-ring.ts"
import type { Sink, SinkEvents } from "./event-sink.ts"

/** What a client wants: events after one, of one directory, and those that it may see. */
type EventRequest = {
  lastEventId?: string | undefined
  directory?: string | undefined
  filter?: ((frames: Buffer) => Promise<Buffer>) | undefined
}

export type EventStream = Readonly<{
  /** Add a client. `connect` creates its sink, which calls the given callbacks. */
  open(connect: (events: SinkEvents) => Sink, request: EventRequest): void
  /** The newest event id in the log. */
  lastId(): number
  /** The number of connected clients. */
  clients(): number
  /** End every client's stream; events are still logged. */
  disconnect(): void
  /** Disconnect, and unsubscribe from events. */
  close(): void
}>

const ringBytes = 1 << 20

export function createEventStream(options: {
  log: EventLog | SharedEventLog
  heartbeat?: number
  stall?: number
}): EventStream {
  const { log, heartbeat = 15_000, stall = 30_000 } = options
  const ring = createEventRing(ringBytes)
  const clients = new Map<EventClient, Sink>()
  const batch = createEventBatch()
  let flushing: NodeJS.Immediate | undefined
  let checking: NodeJS.Timeout | undefined
  if ("follow" in log) log.follow(send)
  else GlobalBus.continueAfter(log.lastId())
  const unsubscribe = GlobalBus.subscribe(add)

  function add(event: GlobalBus.Event) {
    if ("publish" in log) return log.publish(event)
    batch.add(event)
    if (batch.isFull()) flush()
    else flushing ??= setImmediate(flush)
  }

  function flush() {
    clearImmediate(flushing)
    flushing = undefined
    const taken = batch.take()
    if (!taken) return
    const start = log.end()
    if (taken.kept && "append" in log) log.append(taken.kept)
    send({ start, live: taken.live, kept: taken.kept?.bytes ?? Buffer.alloc(0) })
  }

  function send(tick: Tick) {
    ring.push(tick)
    for (const client of clients.keys()) client.pump()
  }

  function open(connect: (events: SinkEvents) => Sink, request: EventRequest) {
    flush()
    let client: EventClient | undefined
    const sink = connect({
      drained: () => client?.drained(),
      closed: () => client && remove(client),
    })
    const cutOff = () => {
      if (client) remove(client)
      sink.destroy()
    }
    client = createEventClient({ log, ring, sink, heartbeat, stall, cutOff, ...request })
    clients.set(client, sink)
    if (clients.size === 1 && "watch" in log) log.watch(true)
    checking ??= setInterval(check, Math.min(heartbeat, stall) / 3).unref()
    client.pump()
  }

  function remove(client: EventClient) {
    client.stop()
    if (!clients.delete(client) || clients.size > 0) return
    if ("watch" in log) log.watch(false)
    clearInterval(checking)
    checking = undefined
  }

  function check() {
    const now = performance.now()
    for (const [client, sink] of clients)
      if (client.check(now) === "stalled") {
        Log.info("a client of the event stream stopped reading and was cut off", {
          clients: clients.size - 1,
        })
        remove(client)
        sink.destroy()
      }
  }

  function disconnect() {
    flush()
    for (const [client, sink] of clients) {
      remove(client)
      sink.end()
    }
  }

  function close() {
    unsubscribe()
    disconnect()
  }

  return Object.freeze({ open, lastId: log.lastId, clients: () => clients.size, disconnect, close })
}
