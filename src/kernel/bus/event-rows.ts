// The queries of the event table: rows of stored events, in the order of their ids.
import { type Client, type Database, settle, type Transaction } from "#kernel/database/database.ts"
import { bodyOf, frameOf, numberedFrame } from "./event-frame.ts"
import { notifyLive } from "./event-listener.ts"
import type { Part } from "./event-log.ts"
import type { Event } from "./global-bus.ts"

/** An event that waits: a frame without an id, or the parts of a frame that gets one. `event`: other servers want it. */
export type Waiting = { frame: string; event?: Event } | { type: string; body: string }
export type Place = { seq: number; position: number }
export type Row = Place & { frame: string }
type Appending = {
  transaction: Transaction
  /** Live events that were delivered before. */
  earlier: Event[]
  taken: Waiting[]
  begun: (before: Place) => void
  packetsOf: (after: number, events: Event[]) => string[]
}

const rowsAtOnce = 200

export function waitingOf(event: Event, isWanted: boolean): Waiting {
  if (event.id !== undefined) return { type: event.type, body: bodyOf(event) }
  return { frame: frameOf(event), ...(isWanted ? { event } : {}) }
}

export function sizeOf(one: Waiting): number {
  return "type" in one ? one.body.length : one.frame.length
}

/** Stores events under the next ids; `begun` gets the place before the first. The row of the head stays locked until the
 * commit: whoever gets higher ids commits later. */
export async function append(
  client: Client,
  { transaction, earlier, taken, begun, packetsOf }: Appending,
): Promise<void> {
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
  const packets: string[] = []
  let last = { seq, position }
  let live = [...earlier]
  for (const one of taken) {
    if (!("type" in one)) {
      if (one.event) live.push(one.event)
      continue
    }
    packets.push(...packetsOf(last.seq, live))
    live = []
    const frame = numberedFrame(last.seq + 1, one)
    last = { seq: last.seq + 1, position: last.position + Buffer.byteLength(frame) }
    rows.push({ ...last, frame })
  }
  begun({ seq, position })
  transaction.id = id
  // Events are never changed, and no other ones get their numbers if they are stored.
  transaction.isThere = async (other) => {
    const text = "select 1 from vitamin.event where seq = $1 and frame = $2"
    return (await other.query({ text, values: [last.seq, rows.at(-1)?.frame] })).rows.length > 0
  }
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
    // Live events first: servers get notifications in this order.
    ...(packets.length ? [client.query(notifyLive(packets))] : []),
    client.query({
      name: "notify",
      text: "select pg_notify('vitamin_event', $1)",
      values: [String(last.seq)],
    }),
    client.query("commit"),
  ])
}

export function readRows(
  database: Database,
  where: string,
  values: number[],
  limit = rowsAtOnce,
): Promise<Row[]> {
  return database.read<Row>({
    // The columns of the table, not those of the answer: an index has them in their order.
    text: `select seq::float8, position::float8, frame from vitamin.event e where ${where}
      order by ${where.startsWith("position") ? "e.position" : "e.seq"} limit ${limit}`,
    values,
  })
}

export async function readHead(database: Database): Promise<Place> {
  const text = "select seq::float8, position::float8 from vitamin.event_head"
  return (await database.read<Place>({ text }))[0]!
}

export async function readLiveKey(database: Database): Promise<Buffer> {
  return (await database.read<{ key: Buffer }>({ text: "select key from vitamin.live_key" }))[0]!.key
}

/** Stored events from an offset on, up to `max` bytes, but at least one. */
export async function readPart(
  database: Database,
  { offset, max, end }: { offset: number; max: number; end: number },
): Promise<Part | undefined> {
  const rows = await readRows(database, "position > $1 and position <= $2", [offset, end])
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
