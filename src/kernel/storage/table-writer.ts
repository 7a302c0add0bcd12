// The only way to change the records of a database. Changes are batched: one transaction takes the locks of their
// records, reads them, writes the new values and commits. A change is acknowledged when its transaction is committed. If
// the connection is lost meanwhile, the database tells afterwards which transactions it has committed.
import {
  type Client,
  type Connection,
  isLost,
  leaseLock,
  reasonOf,
  recordLock,
  settle,
  type Transaction,
  transact,
  Uncertain,
} from "#kernel/database/database.ts"
import { type Lease, TakenOver } from "#kernel/worker/worker.ts"
import { errorCode, NamedError } from "#util/error.ts"
import { InvalidData, joinPath, Locked, NotFound, splitPath, WriteFailed } from "./errors.ts"
import type { Found } from "./files.ts"

/** Computes the new text of a record (undefined removes it) from the current one. `isBlind`: it does not ask for it.
 * `leases`: it is made only if they are all in place. */
export type TableChange = {
  path: string
  /** The path of a record that is removed with it. The change is made only if that record is there. */
  removes?: string | undefined
  isBlind?: boolean
  /** Characters of the new text, as far as they are known before. */
  size?: number
  leases?: readonly Lease[]
  apply(current: () => Found): string | undefined
}

export type TableWriter = Readonly<{
  /** Resolves when the change is committed. */
  submit(change: TableChange): Promise<void>
  close(): Promise<void>
}>

type Job = { change: TableChange; isOver: boolean; resolve: () => void; reject: (error: unknown) => void }
type Texts = Map<string, string | undefined>

const batchSize = 256
/** Characters of new values in one transaction, and in one record: PostgreSQL takes no message of 1 GB. */
const batchChars = 8 << 20
const recordChars = 128 << 20
const lockNotAvailable = "55P03"
const patienceForLocks = 5

export function createTableWriter(connection: Connection): TableWriter {
  const queue: Job[] = []
  let draining: Promise<void> | undefined

  function submit(change: TableChange): Promise<void> {
    return new Promise((resolve, reject) => {
      queue.push({ change, isOver: false, resolve, reject })
      draining ??= Promise.resolve().then(drain)
    })
  }

  async function drain() {
    while (queue.length) await commit(queue.splice(0, batchOf(queue)))
    draining = undefined
  }

  async function commit(jobs: Job[]): Promise<void> {
    try {
      await transact(connection, (client, transaction) => attempt(client, jobs, transaction))
      for (const job of jobs) job.resolve()
    } catch (error) {
      const open = jobs.filter(({ isOver }) => !isOver)
      // One record that is refused must not stop the others.
      if (open.length > 1 && !isLost(error)) for (const job of open) await commit([job])
      else for (const job of open) job.reject(asFailure(job, connection.shown, error))
    }
  }

  async function close() {
    while (draining) await draining
    await connection.close()
  }

  return Object.freeze({ submit, close })
}

/** How many of the waiting jobs are done together. */
function batchOf(queue: Job[]): number {
  let chars = 0
  const full = queue.findIndex(({ change }, at) => {
    chars += change.size ?? 0
    return at > 0 && (at >= batchSize || chars > batchChars)
  })
  return full < 0 ? queue.length : full
}

async function attempt(client: Client, jobs: Job[], transaction: Transaction): Promise<void> {
  const open = jobs.filter(({ isOver }) => !isOver)
  const { id, texts, inPlace } = await begin(client, open)
  const changed: Texts = new Map()
  for (const job of open) if (!isFenced(job, inPlace)) apply(job, texts, changed)
  if (!changed.size) return void (await client.query("rollback"))
  // From here on a lost connection leaves it open whether the transaction is committed.
  transaction.id = id
  transaction.isThere = (other) => isThere(other, id, changed)
  await settle([...changes(client, changed), client.query("commit")])
}

/** Whether these changes were committed under an id. If others have changed all the records since, nobody can tell. */
async function isThere(client: Client, id: string, changed: Texts): Promise<boolean | undefined> {
  const text = `select body, xmin = $3::xid8::xid as "isOwn" from vitamin.record where parent = $1 and name = $2`
  let isTold = true
  for (const [path, body] of changed) {
    const { rows } = await client.query<{ body: string; isOwn: boolean }>({
      text,
      values: [...splitPath(path), id],
    })
    if (body !== undefined && rows[0]?.isOwn && rows[0].body === body) return true
    if (body === undefined && rows[0]) return false
    if (body !== undefined) isTold = false
  }
  return isTold || undefined
}

/** Takes the locks of all records, in one order for all processes, and then reads: what another process has committed
 * before it released its lock is seen. A record that does not exist yet has a lock too. Leases cannot be taken by others
 * from here to the commit. */
async function begin(
  client: Client,
  jobs: Job[],
): Promise<{ id: string; texts: Texts; inPlace: ReadonlySet<string> }> {
  const paths = jobs.flatMap(({ change: { path, removes } }) => (removes ? [path, removes] : [path]))
  const locks = [...new Set(paths.map(recordLock))].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const leases = [
    ...new Map(jobs.flatMap(({ change }) => change.leases ?? []).map((one) => [keyOf(one), one])).values(),
  ]
  const keys = new Set(
    jobs.flatMap(({ change: { path, isBlind, removes } }) => [
      ...(isBlind ? [] : [path]),
      ...(removes ? [removes] : []),
    ]),
  )
  const [, taken, found, fences] = await settle([
    client.query("begin"),
    client.query({
      name: "lock",
      text: `select pg_current_xact_id()::text as id,
        (select count(pg_advisory_xact_lock(k)) from unnest($1::bigint[]) k),
        (select count(pg_advisory_xact_lock_shared(k)) from unnest($2::bigint[]) k)`,
      values: [locks, leases.map(({ session }) => leaseLock(session))],
    }),
    client.query({
      name: "find",
      text: "select parent, name, body from vitamin.record join unnest($1::text[], $2::text[]) k(parent, name) using (parent, name)",
      values: columns([...keys].map(splitPath)),
    }),
    ...(leases.length
      ? [
          client.query({
            name: "fence",
            text: `select session, epoch::text from vitamin.lease
              join unnest($1::text[], $2::bigint[]) k(session, epoch) using (session, epoch)`,
            values: [leases.map(({ session }) => session), leases.map(({ epoch }) => epoch)],
          }),
        ]
      : []),
  ]).catch((error) => {
    void client.query("rollback").catch(() => {})
    throw error
  })
  const [{ id }] = taken!.rows as [{ id: string }]
  const records = found!.rows as { parent: string; name: string; body: string }[]
  return {
    id,
    texts: new Map(records.map(({ parent, name, body }) => [joinPath(parent, name), body])),
    inPlace: new Set(((fences?.rows ?? []) as Lease[]).map(keyOf)),
  }
}

/** Rejects a change of work that another worker has taken over. */
function isFenced(job: Job, inPlace: ReadonlySet<string>): boolean {
  const gone = job.change.leases?.find((lease) => !inPlace.has(keyOf(lease)))
  if (!gone) return false
  gone.lose()
  job.isOver = true
  job.reject(new TakenOver(gone.session))
  return true
}

function keyOf({ session, epoch }: Pick<Lease, "session" | "epoch">): string {
  return `${session} ${epoch}`
}

/** Compute one change. If it fails, only this change is rejected; the rest of the batch continues. */
function apply(job: Job, texts: Texts, changed: Texts): void {
  const { path, removes } = job.change
  const at = (path: string) => (changed.has(path) ? changed.get(path) : texts.get(path))
  try {
    if (removes && at(removes) === undefined) throw new NotFound(removes.split("/"))
    const text = job.change.apply(() => {
      const current = at(path)
      return current === undefined ? undefined : { text: current }
    })
    if (text && text.length > recordChars)
      throw new InvalidData(
        path.split("/"),
        `it has ${text.length >> 20} MB, and a database takes ${recordChars >> 20}`,
      )
    changed.set(path, text)
    if (removes) changed.set(removes, undefined)
  } catch (error) {
    job.isOver = true
    job.reject(error)
  }
}

function changes(client: Client, changed: Texts) {
  const put = [...changed].flatMap(([path, text]) =>
    text === undefined ? [] : [[...splitPath(path), text] as const],
  )
  const removed = [...changed].flatMap(([path, text]) => (text === undefined ? [splitPath(path)] : []))
  return [
    ...(put.length
      ? [
          client.query({
            name: "put",
            text: `insert into vitamin.record (parent, name, body) select * from unnest($1::text[], $2::text[], $3::text[])
              on conflict (parent, name) do update set body = excluded.body, changed = now()`,
            values: columns(put),
            query_timeout: slowest(put),
          }),
        ]
      : []),
    ...(removed.length
      ? [
          client.query({
            name: "remove",
            text: `delete from vitamin.record r using unnest($1::text[], $2::text[]) k(parent, name)
              where r.parent = k.parent and r.name = k.name`,
            values: columns(removed),
          }),
        ]
      : []),
  ]
}

/** Milliseconds that a write may take: large records need time on a slow network. */
function slowest(rows: readonly (readonly string[])[]): number {
  return 10_000 + rows.reduce((sum, [, , body]) => sum + body!.length, 0) / 2_000
}

function asFailure({ change: { path } }: Job, shown: string, error: unknown): unknown {
  return errorCode(error) === lockNotAvailable
    ? new Locked(`record ${path}`, patienceForLocks, undefined)
    : failureOf(`Record ${path}`, shown, error)
}

/** The error of a transaction that did not store something, in words for people. `shown`: the database. */
export function failureOf(what: string, shown: string, error: unknown): unknown {
  if (error instanceof Uncertain)
    return new NamedError(error.name, `${what}: ${error.message}`, { what }, { cause: error })
  const isOfDatabase = isLost(error) || typeof (error as { severity?: unknown }).severity === "string"
  if (!isOfDatabase) return error
  return new WriteFailed(what, new Error(reasonOf(error), { cause: error }), `the database ${shown}`)
}

/** Rows as the columns that `unnest` takes. */
function columns(rows: readonly (readonly string[])[]): string[][] {
  const width = rows[0]?.length ?? 2
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column]!))
}
