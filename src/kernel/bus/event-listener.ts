// Listens for new events in a database. A connection that is lost is made again, and then everything is looked up once:
// nobody knows what was announced meanwhile. Notifications are hints: the newest id is also asked for now and then.
import type { Client, Database } from "#kernel/database/database.ts"

/** A network that is cut tells nothing, so the newest id is asked for this often, in milliseconds. */
const heartbeat = 5_000
const heartbeatTimeout = 3_000
const retryAfter = 250

/** `heard` gets the newest id, or undefined after a time without a connection. */
export function createEventListener(
  database: Database,
  heard: (seq: number | undefined) => void,
): Readonly<{ ready: Promise<unknown>; close(): Promise<void> }> {
  let isClosed = false
  let retrying: NodeJS.Timeout | undefined
  const connection = database.connect(async (client) => {
    client.on("notification", ({ payload }) => hear(Number(payload)))
    client.once("end", connectLater)
    await client.query("listen vitamin_event")
  })
  const beating = setInterval(beat, heartbeat).unref()

  /** Everybody who may connect to the database can notify, with any text. */
  function hear(seq: number) {
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
    async close() {
      isClosed = true
      clearInterval(beating)
      clearTimeout(retrying)
      await connection.close()
    },
  })
}
