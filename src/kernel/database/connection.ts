// One connection to PostgreSQL. It is made when it is first needed, and made again after it was lost. Queries are
// pipelined: each is sent at once, and the answers come in their order.

import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { isLost } from "./errors.ts"

/** What is used of the driver's client. Its own type would make programs that embed vitamin need the driver's types. */
export type Client = {
  query<Row extends object>(
    query: string | { name?: string; text: string; values?: unknown[]; query_timeout?: number },
    values?: unknown[],
  ): Promise<{ rows: Row[] }>
  on(event: "notification", take: (message: { channel: string; payload?: string }) => void): unknown
  once(event: "end", take: () => void): unknown
}

export type Connection = Readonly<{
  /** The database for people: host, port and name. */
  shown: string
  /** The open client. Throws if the server does not answer. */
  client(): Promise<Client>
  close(): Promise<void>
}>

/** Milliseconds that work is repeated if the connection is lost: a restart of the server takes less. */
export const patience = 10_000
const connectTimeout = 5_000
/** A query that takes longer counts as a lost connection: a network that is cut gives no answer. Locks are awaited for a
 * shorter time. */
const queryTimeout = 10_000
/** A network that is cut does not answer a goodbye either. */
const closeTimeout = 1_000
/** A process that is paused, or cut off, inside a transaction loses it, and its locks, before others have given up. The
 * keepalives end the connections of a machine that is gone: the server would keep them for hours. */
const idleTransaction = 4_000
const settings = `
  set lock_timeout = '5s'; set idle_in_transaction_session_timeout = ${idleTransaction};
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`

export function createConnection(
  { url, shown }: { url: string; shown: string },
  opened: (client: Client) => Promise<unknown> = async () => {},
): Connection {
  let opening: Promise<pg.Client> | undefined

  function client(): Promise<pg.Client> {
    if (opening) return opening
    const made = new pg.Client({
      connectionString: url,
      pipeline: true,
      application_name: `vitamin ${process.pid}`,
      connectionTimeoutMillis: connectTimeout,
      query_timeout: queryTimeout,
      keepAlive: true,
    })
    const mine = start(made, opened)
    // The end of an old connection may be noticed when a new one is in use already.
    const forget = () => {
      if (opening === mine) opening = undefined
    }
    made.once("end", forget)
    // Without a listener, the end of an idle connection would end the process.
    made.on("error", forget)
    mine.catch(forget)
    opening = mine
    return mine
  }

  async function close() {
    const last = await opening?.catch(() => undefined)
    opening = undefined
    if (!last) return
    const cut = setTimeout(() => last.connection.stream.destroy(), closeTimeout)
    await last.end()
    clearTimeout(cut)
  }

  return Object.freeze({ shown, client, close })
}

/** Connections for the engine that runs jobs, which has no time limits of its own. One that stays silent after it was asked
 * something is ended, once the engine has started: its steps at the start may take long. */
export function createPool(
  url: string,
  { max, hasStarted }: { max: number; hasStarted: () => boolean },
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    idle_in_transaction_session_timeout: idleTransaction,
  })
  pool.on("error", () => {})
  pool.on("connect", ({ connection }) => {
    const stream = connection.stream as Socket
    let sent = 0
    stream.on("data", () => {
      sent = stream.bytesWritten
    })
    stream.setTimeout(queryTimeout, () => {
      if (hasStarted() && stream.bytesWritten > sent) stream.destroy()
    })
  })
  return pool
}

async function start(made: pg.Client, opened: (client: Client) => Promise<unknown>): Promise<pg.Client> {
  try {
    await made.connect()
    await made.query(settings)
    await opened(made)
    return made
  } catch (error) {
    made.connection.stream.destroy()
    throw error
  }
}

/** Do something that may be repeated, again while the connection is lost. */
export async function retrying<T>(work: () => Promise<T>, isPassing = isLost): Promise<T> {
  let deadline: number | undefined
  for (let wait = 20; ; wait = Math.min(wait * 2, 500))
    try {
      return await work()
    } catch (error) {
      deadline ??= performance.now() + patience
      if (!isPassing(error) || performance.now() + wait > deadline) throw error
      await sleep(wait)
    }
}
