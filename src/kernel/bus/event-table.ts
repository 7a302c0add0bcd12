// The event log in a database that several servers share: every server sends the events of all of them, in one order,
// under the same ids, so a client may continue at another server. Ids are given in the transaction that stores the
// events. NOTIFY carries only the newest id; the events are read from their rows, so a lost notification costs nothing.
import { setTimeout as sleep } from "node:timers/promises"
import { createOutage, type Database, transact, Uncertain } from "#kernel/database/database.ts"
import { gapFrame, numberedFrame } from "./event-frame.ts"
import { createEventListener } from "./event-listener.ts"
import type { Located, SharedEventLog, Tick } from "./event-log.ts"
import {
  append,
  type Place,
  type Row,
  readHead,
  readLiveKey,
  readPart,
  readRows,
  sizeOf,
  type Waiting,
  waitingOf,
} from "./event-rows.ts"
import type { Event } from "./global-bus.ts"
import { createLiveChannel } from "./live-channel.ts"

/** The most characters that wait while the database is away, and those of one transaction. */
const mostWaiting = 64 << 20
const mostAtOnce = 512 << 10
/** Old events are removed after so many new ones. */
const removeEvery = 1_000
const retryAfter = 500

/** At least `maxEvents` events or `maxBytes` bytes stay readable. */
export async function createEventTable(
  database: Database,
  { maxEvents = 20_000, maxBytes = 64 << 20 }: { maxEvents?: number; maxBytes?: number } = {},
): Promise<SharedEventLog> {
  const writer = database.connect()
  let waiting: Waiting[] = []
  let size = 0
  /** The newest event that the clients of this server have. */
  let delivered = await readHead(database)
  /** The newest id that was heard of. */
  let announced = delivered.seq
  let mustLook = false
  let running: Promise<void> | undefined
  const closing = new AbortController()
  const outage = createOutage(
    "events cannot be stored or read; it is tried again",
    "events are stored and read again",
  )
  let deliver: (tick: Tick) => void = () => {}
  const live = createLiveChannel({
    key: await readLiveKey(database),
    delivered: () => delivered.seq,
    send: (packets) => listener.notify(packets),
    heard: heardLive,
  })
  const listener = createEventListener(database, { heard, heardLive: live.hear })
  await listener.ready

  function heard(seq: number | undefined) {
    if (seq === undefined) mustLook = true
    else announced = Math.max(announced, seq)
    wake()
  }

  /** A live event must not overtake the stored events that its server published before it. */
  function heardLive() {
    releaseLive(delivered.seq)
    heard(live.awaits() ?? delivered.seq)
  }

  function releaseLive(upTo: number) {
    const frames = live.release(upTo)
    if (frames) deliver({ start: delivered.position, live: Buffer.from(frames), kept: Buffer.alloc(0) })
  }

  function publish(event: Event) {
    if (size >= mostWaiting) {
      waiting = [{ type: "gap", body: "" }]
      size = 0
    }
    const one = waitingOf(event, live.isWanted())
    waiting.push(one)
    size += sizeOf(one)
    wake()
  }

  /** The oldest that wait, as many as one transaction takes. */
  function take(): Waiting[] {
    let count = 0
    let sum = 0
    while (count < waiting.length && sum < mostAtOnce) sum += sizeOf(waiting[count++]!)
    size -= sum
    return waiting.splice(0, count)
  }

  function wake() {
    running ??= run().finally(() => {
      running = undefined
      // Something may have come after the last look.
      if (hasWork() && !closing.signal.aborted) wake()
    })
  }

  function hasWork(): boolean {
    return waiting.length > 0 || mustLook || announced > delivered.seq
  }

  /** One thing at a time: so an own event that is committed is always delivered before foreign rows are read. */
  async function run() {
    // Events of one tick share a transaction.
    await Promise.resolve()
    while (hasWork())
      try {
        if (waiting.some((one) => "type" in one)) await store()
        else if (waiting.length) deliverLive(take())
        else await catchUp()
        outage.over()
      } catch (error) {
        if (closing.signal.aborted) return
        outage.failed(error)
        await sleep(retryAfter)
      }
  }

  async function store() {
    const taken = take()
    const earlier = live.take()
    await live.sent()
    const count = taken.filter((one) => "type" in one).length
    let before = delivered
    const begun = (place: Place) => {
      before = place
    }
    // Without an end to the patience: events that may be committed must not be stored again under other ids.
    await transact(
      writer,
      (client, transaction) =>
        append(client, { transaction, earlier, taken, begun, packetsOf: live.packetsOf }),
      { patience: Number.POSITIVE_INFINITY, signal: closing.signal },
    ).catch((error) => {
      // Nobody can tell whether they are stored: clients are told that some may be missing.
      const again: Waiting[] = error instanceof Uncertain ? [{ type: "gap", body: "" }] : taken
      waiting = [...again, ...waiting]
      size += again.reduce((sum, one) => sum + sizeOf(one), 0)
      throw error
    })
    if (before.seq > delivered.seq) {
      await listener.announced(before.seq)
      await catchUp(before.seq)
    }
    const stored = taken.findLastIndex((one) => "type" in one) + 1
    deliverOwn(taken.slice(0, stored), before.seq)
    deliverLive(taken.slice(stored))
    announced = Math.max(announced, before.seq + count)
    // One server removes them: the one whose events pass the next thousand.
    if (Math.floor(before.seq / removeEvery) !== Math.floor(delivered.seq / removeEvery)) await removeOld()
  }

  /** Sends live events of this server to its clients, and later to those of others. */
  function deliverLive(taken: Waiting[]) {
    if (taken.length) deliverOwn(taken, delivered.seq)
    for (const one of taken) if ("event" in one && one.event) live.add(one.event)
  }

  /** Sends events of this server from memory. They follow the delivered ones without a gap. */
  function deliverOwn(taken: Waiting[], seq: number) {
    const frames = taken.map((one) => ("type" in one ? numberedFrame(++seq, one) : one.frame))
    const kept = Buffer.from(frames.filter((_, i) => "type" in taken[i]!).join(""))
    const start = delivered.position
    delivered = { seq, position: start + kept.length }
    deliver({ start, live: Buffer.from(frames.join("")), kept })
    releaseLive(seq)
  }

  /** Sends the events of other servers, up to an id. Not beyond the newest that was announced: live events that come before
   * it were announced, too, and those before the next one may not have come yet. */
  async function catchUp(upTo = mustLook ? Number.MAX_SAFE_INTEGER : announced) {
    mustLook = false
    // What is announced during the last query may be newer than its answer.
    const goal = announced
    for (;;) {
      // Live events come between the stored ones.
      const stop = Math.min(upTo, live.awaits() ?? upTo)
      const rows = await readRows(database, "seq > $1 and seq <= $2", [delivered.seq, stop])
      if (rows.length) deliverRows(rows)
      releaseLive(rows.length ? delivered.seq : stop)
      if (!rows.length && stop === upTo) break
    }
    if (announced === goal && upTo > delivered.seq) announced = delivered.seq
  }

  function deliverRows(rows: Row[]) {
    const first = rows[0]!
    if (first.seq > delivered.seq + 1) skip(first)
    const start = delivered.position
    const kept = Buffer.from(rows.map(({ frame }) => frame).join(""))
    delivered = { seq: rows.at(-1)!.seq, position: start + kept.length }
    deliver({ start, live: kept, kept })
  }

  /** Events were removed before this server has read them: its clients are told. */
  function skip(first: Row) {
    const gap = gapFrame({ after: delivered.seq, from: first.seq })
    delivered = { seq: first.seq - 1, position: first.position - Buffer.byteLength(first.frame) }
    deliver({ start: delivered.position, live: gap, kept: Buffer.alloc(0) })
  }

  async function removeOld() {
    const values = [delivered.seq - maxEvents, delivered.position - maxBytes]
    await (await writer.client()).query("delete from vitamin.event where seq <= $1 or position <= $2", values)
  }

  async function locate(id: number): Promise<Located | undefined> {
    // A client that comes from another server may have more than this one.
    if (id > delivered.seq) {
      announced = Math.max(announced, (await readHead(database)).seq)
      wake()
      await running
    }
    if (id > delivered.seq) return undefined
    if (id === delivered.seq) return { offset: delivered.position }
    const [row] = await readRows(database, "seq >= $1", [id], 1)
    if (!row) return { offset: delivered.position, gap: { after: id, from: delivered.seq + 1 } }
    if (row.seq === id) return { offset: row.position }
    const offset = row.position - Buffer.byteLength(row.frame)
    return row.seq === id + 1 ? { offset } : { offset, gap: { after: id, from: row.seq } }
  }

  async function close() {
    while (running && waiting.length)
      await Promise.race([running, sleep(2_000, undefined, { ref: false }).then(() => waiting.splice(0))])
    closing.abort()
    live.close()
    await listener.close()
    await running
    await writer.close()
  }

  return Object.freeze<SharedEventLog>({
    publish,
    follow(next) {
      deliver = next
    },
    watch: live.watch,
    lastId: () => delivered.seq,
    end: () => delivered.position,
    locate,
    read: (offset, max) => readPart(database, { offset, max, end: delivered.position }),
    close,
  })
}
