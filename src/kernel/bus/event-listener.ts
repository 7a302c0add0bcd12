// Listens for new events in a database, and sends and hears live events of other servers. A connection that is lost is made
// again, and then everything is looked up once: nobody knows what was announced meanwhile. Notifications are hints: the
// newest id is also asked for now and then.
import { setTimeout as sleep } from "node:timers/promises"
import type { Client, Database } from "#kernel/database/database.ts"

/** A network that is cut tells nothing, so the newest id is asked for this often, in milliseconds. */
const heartbeat = 5_000
const heartbeatTimeout = 3_000
const retryAfter = 250
/** Stored events of other servers wait so long for live events that come before them. */
const maxDelay = 1_000
const liveChannel = "vitamin_live"

/** The query that sends live events to all servers. */
export function notifyLive(live: string[]): { name: string; text: string; values: unknown[] } {
  const text = `select pg_notify('${liveChannel}', one) from unnest($1::text[]) one`
  return { name: "notify live", text, values: [live] }
}

/** `heard` gets the newest id, or undefined after a time without a connection; `heardLive` gets any text. */
export function createEventListener(
  database: Database,
  { heard, heardLive }: { heard: (seq: number | undefined) => void; heardLive: (text: string) => void },
): Readonly<{
  ready: Promise<unknown>
  /** Resolves when an id was announced, or soon. The live events before it have come by then. */
  announced(seq: number): Promise<void>
  notify(live: string[]): Promise<void>
  close(): Promise<void>
}> {
  let isClosed = false
  let retrying: NodeJS.Timeout | undefined
  let newest = 0
  const connection = database.connect(async (client) => {
    client.on("notification", ({ channel, payload = "" }) => {
      if (channel === liveChannel) heardLive(payload)
      else hear(Number(payload))
    })
    client.once("end", connectLater)
    // Notifications need no disk.
    await client.query(`set synchronous_commit = off; listen vitamin_event; listen ${liveChannel}`)
  })
  const beating = setInterval(beat, heartbeat).unref()

  /** Everybody who may connect to the database can notify, with any text. */
  function hear(seq: number) {
    if (Number.isSafeInteger(seq)) newest = Math.max(newest, seq)
    heard(Number.isSafeInteger(seq) ? seq : undefined)
  }

  function beat() {
    const text = "select seq::float8 from vitamin.event_head"
    connection
      .client()
      .then((client: Client) => client.query<{ seq: number }>({ text, query_timeout: heartbeatTimeout }))
      .then(({ rows }) => hear(rows[0]!.seq), connectLater)
  }

  function connectLater() {
    if (isClosed || retrying) return
    retrying = setTimeout(() => {
      retrying = undefined
      connection.client().then(() => heard(undefined), connectLater)
    }, retryAfter)
    retrying.unref()
  }

  return Object.freeze({
    ready: connection.client(),
    async announced(seq) {
      for (const end = performance.now() + maxDelay; newest < seq && performance.now() < end; ) await sleep(2)
    },
    async notify(live) {
      await (await connection.client()).query({ ...notifyLive(live), query_timeout: heartbeatTimeout })
    },
    async close() {
      isClosed = true
      clearInterval(beating)
      clearTimeout(retrying)
      await connection.close()
    },
  })
}
