// The PostgreSQL database that several servers share. Everything above this folder uses it through kernel/storage and
// kernel/bus. The driver is loaded with this file, so load it only if a database is named.
import { createHash } from "node:crypto"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { type Client, type Connection, createConnection, retrying } from "./connection.ts"
import { InvalidAddress, isLost, isStarting, Unreachable } from "./errors.ts"
import { checkFacts, checkMarks, type Facts, migrate, newest, readFacts, readMarks } from "./schema.ts"
import { type Rights, tryRights } from "./try-rights.ts"

export { type Client, type Connection, createPool, retrying } from "./connection.ts"
export { isLost, reasonOf, Uncertain, Unreachable } from "./errors.ts"
export { exclusively } from "./exclusively.ts"
export { createOutage } from "./outage.ts"
export { settle, type Transaction, transact } from "./transact.ts"
export type { Rights } from "./try-rights.ts"
export { withLock } from "./with-lock.ts"

export type Database = Readonly<{
  /** Host, port and name, for people. */
  shown: string
  /** The address with its password, for the engine that runs jobs. */
  url: string
  /** A further connection: a writer and a listener have one each. */
  connect(opened?: (client: Client) => Promise<unknown>): Connection
  /** A query that only reads. It is repeated if the connection is lost. */
  read<T>(query: { name?: string; text: string; values?: unknown[] }): Promise<T[]>
  /** The time by the clock of the database, in milliseconds since 1970. The clocks of the servers may differ. */
  now(): number
  close(): Promise<void>
}>

/** A clock that is wrong by more is reported. */
const wrongBy = 60_000

/** The advisory lock of a record. Two records with the same number only wait for each other. */
export function recordLock(path: string): string {
  return lockOf(`vitamin record ${path}`)
}

/** The advisory lock of a lease: shared by the writes that depend on it, exclusive for who takes it. */
export function leaseLock(session: string): string {
  return lockOf(`vitamin lease ${session}`)
}

/** The advisory lock of work on the queue of jobs. */
export function jobLock(work: string): string {
  return lockOf(`vitamin jobs ${work}`)
}

function lockOf(name: string): string {
  return String(createHash("sha256").update(name).digest().readBigInt64BE())
}

/** Opens a database, and brings its tables to the newest version. Short and clear errors if that is impossible.
 * `beforeTables` runs if there are none yet, and may refuse to create them. */
export async function open(
  address: string,
  beforeTables: () => Promise<unknown> = async () => {},
): Promise<Database> {
  const { url, shown } = parseAddress(address)
  let clock = { time: Date.now(), at: performance.now() }
  let isPrepared = false
  const connect = (opened: (client: Client) => Promise<unknown> = async () => {}) =>
    createConnection({ url, shown }, async (client) => {
      if (!isPrepared) await prepare(client, shown, beforeTables)
      isPrepared = true
      const marks = await readMarks(client)
      clock = { time: marks.clock, at: performance.now() }
      checkMarks(shown, marks)
      await opened(client)
    })
  const reader = connect()
  await tellFailure(shown, () => retrying(reader.client, isStarting))
  return Object.freeze({
    shown,
    url,
    connect,
    read: <T>(query: { name?: string; text: string; values?: unknown[] }) =>
      tellFailure(shown, () =>
        retrying(async () => (await (await reader.client()).query(query)).rows as T[]),
      ),
    // The clock of this machine may be set meanwhile, so it is not asked.
    now: () => Math.round(clock.time + performance.now() - clock.at),
    close: reader.close,
  })
}

async function prepare(client: Client, shown: string, beforeTables: () => Promise<unknown>): Promise<void> {
  const facts = await readFacts(client)
  checkFacts(shown, facts)
  if (facts.schema === undefined) await beforeTables()
  if (Math.abs(facts.ahead) > wrongBy) Log.warn(clockText(facts.ahead))
  if (facts.schema === undefined || facts.schema < newest) await migrate(shown, client)
}

/** One sentence about a clock that differs from that of the database. */
export function clockText(ahead: number): string {
  const minutes = Math.round(Math.abs(ahead) / 60_000)
  return `The clock of this machine is ${minutes} min ${ahead > 0 ? "ahead of" : "behind"} the database's: set it (NTP). Times in its sessions and events are wrong by that`
}

/** `vitamin doctor` shows this. Nothing is changed. `jobs`: the schema of the engine that runs jobs. */
export async function inspect(
  address: string,
  jobs: string,
): Promise<
  Facts & {
    shown: string
    newest: number
    isClockWrong: boolean
    rights: Rights
    records?: number
    events?: number
    bytes?: number
  }
> {
  const { url, shown } = parseAddress(address)
  const connection = createConnection({ url, shown })
  try {
    return await tellFailure(shown, async () => {
      const client = await connection.client()
      const facts = await readFacts(client)
      checkFacts(shown, facts)
      const isClockWrong = Math.abs(facts.ahead) > wrongBy
      const isOld = facts.schema !== undefined && facts.schema < newest
      const rights = await tryRights(client, { jobs, isOld })
      if (facts.schema === undefined) return { ...facts, shown, newest, isClockWrong, rights }
      const { rows } = await client.query(
        `select (select count(*) from vitamin.record)::float8 as records, (select count(*) from vitamin.event)::float8 as events,
           pg_database_size(current_database())::float8 as bytes`,
      )
      return { ...facts, shown, newest, isClockWrong, rights, ...rows[0] }
    })
  } finally {
    await connection.close()
  }
}

/** Checks the address, and redacts its password from now on. */
function parseAddress(address: string): { url: string; shown: string } {
  Secret.register(address, "database address")
  const parsed = URL.parse(address)
  if (!parsed) throw new InvalidAddress("it is not a URL")
  if (!/^postgres(ql)?:$/.test(parsed.protocol))
    throw new InvalidAddress(`it begins with ${parsed.protocol}//, not with postgres://`)
  Secret.register(parsed.password, "database password")
  const name = decoded(parsed.pathname.slice(1), "name of the database")
  if (!name) throw new InvalidAddress("it has no name of a database")
  Secret.register(decoded(parsed.password, "password"), "database password")
  const host = parsed.searchParams.get("host") ?? parsed.hostname
  return { url: address, shown: `${name} at ${host || "localhost"}${parsed.port ? `:${parsed.port}` : ""}` }
}

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new InvalidAddress(`a % in the ${what} is not followed by two hex digits (write %25 for %)`)
  }
}

async function tellFailure<T>(shown: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isLost(error) || typeof (error as { severity?: unknown }).severity === "string")
      throw new Unreachable(shown, error)
    throw error
  }
}
