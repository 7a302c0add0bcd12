// The event log in a database that several servers share: every server sends the events of all of them, in one order,
// under the same ids, so a client may continue at another server. Ids are given in the transaction that stores the
// events. NOTIFY carries only the newest id; the events are read from their rows, so a lost notification costs nothing.
import { setTimeout as sleep } from "node:timers/promises"
import {
  type Client,
  type Database,
  settle,
  type Transaction,
  transact,
  Uncertain,
} from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { bodyOf, frameOf, gapFrame, numberedFrame } from "./event-frame.ts"
import { createEventListener } from "./event-listener.ts"
import type { Located, Part, SharedEventLog, Tick } from "./event-log.ts"
import type { Event } from "./global-bus.ts"

/** An event that waits: a frame without an id, or the parts of a frame that gets one. */
type Waiting = { frame: string } | { type: string; body: string }
type Place = { seq: number; position: number }
type Row = Place & { frame: string }

const rowsAtOnce = 200
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
  let delivered = await readHead()
  /** The newest id that was heard of. */
  let announced = delivered.seq
  let mustLook = false
  let running: Promise<void> | undefined
  const closing = new AbortController()
  let deliver: (tick: Tick) => void = () => {}
  const listener = createEventListener(database, (seq) => {
    if (seq === undefined) mustLook = true
    else announced = Math.max(announced, seq)
    wake()
  })
  await listener.ready

  function publish(event: Event) {
    if (size >= mostWaiting) {
      waiting = [{ type: "gap", body: "" }]
      size = 0
    }
    const one = event.id === undefined ? { frame: frameOf(event) } : { type: event.type, body: bodyOf(event) }
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
        else if (waiting.length) deliverOwn(take(), delivered.seq)
        else await catchUp()
      } catch (error) {
        if (closing.signal.aborted) return
        Log.warn("events cannot be stored or read; it is tried again", { error: errorText(error) })
        await sleep(retryAfter)
      }
  }

  async function store() {
    const taken = take()
    const count = taken.filter((one) => "type" in one).length
    let before = delivered
    const begun = (place: Place) => {
      before = place
    }
    // Without an end to the patience: events that may be committed must not be stored again under other ids.
    await transact(writer, (client, transaction) => append(client, { transaction, taken, begun }), {
      patience: Number.POSITIVE_INFINITY,
      signal: closing.signal,
    }).catch((error) => {
      // Nobody can tell whether they are stored: clients are told that some may be missing.
      const again: Waiting[] = error instanceof Uncertain ? [{ type: "gap", body: "" }] : taken
      waiting = [...again, ...waiting]
      size += again.reduce((sum, one) => sum + sizeOf(one), 0)
      throw error
    })
    if (before.seq > delivered.seq) await catchUp(before.seq)
    deliverOwn(taken, before.seq)
    announced = Math.max(announced, before.seq + count)
    // One server removes them: the one whose events pass the next thousand.
    if (Math.floor(before.seq / removeEvery) !== Math.floor(delivered.seq / removeEvery)) await removeOld()
  }

  /** Sends events of this server from memory. They follow the delivered ones without a gap. */
  function deliverOwn(taken: Waiting[], seq: number) {
    const live = taken.map((one) => ("type" in one ? numberedFrame(++seq, one) : one.frame))
    const kept = Buffer.from(live.filter((_, i) => "type" in taken[i]!).join(""))
    const start = delivered.position
    delivered = { seq, position: start + kept.length }
    deliver({ start, live: Buffer.from(live.join("")), kept })
  }

  /** Sends the events of other servers, up to an id. */
  async function catchUp(upTo = Number.MAX_SAFE_INTEGER) {
    mustLook = false
    // What is announced during the last query may be newer than its answer.
    const goal = announced
    for (;;) {
      const rows = await readRows("seq > $1 and seq <= $2", [delivered.seq, upTo])
      const [first] = rows
      if (!first) break
      if (first.seq > delivered.seq + 1) skip(first)
      const start = delivered.position
      const kept = Buffer.from(rows.map(({ frame }) => frame).join(""))
      delivered = { seq: rows.at(-1)!.seq, position: start + kept.length }
      deliver({ start, live: kept, kept })
    }
    if (announced === goal && upTo > delivered.seq) announced = delivered.seq
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
      announced = Math.max(announced, (await readHead()).seq)
      wake()
      await running
    }
    if (id > delivered.seq) return undefined
    if (id === delivered.seq) return { offset: delivered.position }
    const [row] = await readRows("seq >= $1", [id], 1)
    if (!row) return { offset: delivered.position, gap: { after: id, from: delivered.seq + 1 } }
    if (row.seq === id) return { offset: row.position }
    const offset = row.position - Buffer.byteLength(row.frame)
    return row.seq === id + 1 ? { offset } : { offset, gap: { after: id, from: row.seq } }
  }

  async function read(offset: number, max: number): Promise<Part | undefined> {
    const rows = await readRows("position > $1 and position <= $2", [offset, delivered.position])
    const parts: Buffer[] = []
    let next = offset
    for (const { frame, position } of rows) {
      const bytes = Buffer.from(frame)
      if (position - bytes.length !== next) break
      if (parts.length && position - offset > max) break
      parts.push(bytes)
      next = position
    }
    return parts.length ? { bytes: Buffer.concat(parts), next } : undefined
  }

  function readRows(where: string, values: number[], limit = rowsAtOnce): Promise<Row[]> {
    return database.read<Row>({
      // The columns of the table, not those of the answer: an index has them in their order.
      text: `select seq::float8, position::float8, frame from vitamin.event e where ${where}
        order by ${where.startsWith("position") ? "e.position" : "e.seq"} limit ${limit}`,
      values,
    })
  }

  async function readHead(): Promise<Place> {
    const text = "select seq::float8, position::float8 from vitamin.event_head"
    return (await database.read<Place>({ text }))[0]!
  }

  async function close() {
    while (running && waiting.length)
      await Promise.race([running, sleep(2_000, undefined, { ref: false }).then(() => waiting.splice(0))])
    closing.abort()
    await listener.close()
    await running
    await writer.close()
  }

  return Object.freeze<SharedEventLog>({
    publish,
    follow(next) {
      deliver = next
    },
    lastId: () => delivered.seq,
    end: () => delivered.position,
    locate,
    read,
    close,
  })
}

type Appending = { transaction: Transaction; taken: Waiting[]; begun: (before: Place) => void }

function sizeOf(one: Waiting): number {
  return "type" in one ? one.body.length : one.frame.length
}

/** Stores events under the next ids; `begun` gets the place before the first. The row of the head stays locked until the
 * commit: whoever gets higher ids commits later. */
async function append(client: Client, { transaction, taken, begun }: Appending): Promise<void> {
  const [, head] = await settle([
    client.query("begin"),
    client.query(
      "select seq::float8, position::float8, pg_current_xact_id()::text as id from vitamin.event_head for update",
    ),
  ]).catch((error) => {
    client.query("rollback").catch(() => {})
    throw error
  })
  const { seq, position, id } = head!.rows[0] as Place & { id: string }
  const rows: Row[] = []
  let last = { seq, position }
  for (const one of taken) {
    if (!("type" in one)) continue
    const frame = numberedFrame(last.seq + 1, one)
    last = { seq: last.seq + 1, position: last.position + Buffer.byteLength(frame) }
    rows.push({ ...last, frame })
  }
  begun({ seq, position })
  transaction.id = id
  await settle([
    client.query({
      name: "append events",
      text: "insert into vitamin.event (seq, position, frame) select * from unnest($1::bigint[], $2::bigint[], $3::text[])",
      values: [rows.map((row) => row.seq), rows.map((row) => row.position), rows.map((row) => row.frame)],
    }),
    client.query({
      name: "move head",
      text: "update vitamin.event_head set seq = $1, position = $2",
      values: [last.seq, last.position],
    }),
    client.query({
      name: "notify",
      text: "select pg_notify('vitamin_event', $1)",
      values: [String(last.seq)],
    }),
    client.query("commit"),
  ])
}
