// Leases and heartbeats in the database. Only its clock counts: the clocks of the machines may differ. A worker that was
// silent for `deadAfter` is dead for the others, which may take its sessions; if it was only slow, its leases are gone.
import { randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { type Database, leaseLock, retrying, settle } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import { type Bury, type Lease, Taken, TakenOver, type Workers } from "./worker.ts"

type Held = { lease: Lease; count: number }

/** Milliseconds. A heartbeat may be late three times before the worker counts as dead. */
const every = 500
const deadAfter = 2_500
/** A check whose answer took longer may be out of date: the process may have been paused. */
const freshFor = 1_000
const lockNotAvailable = "55P03"
const mostWaits = 3

/** Nobody could send heartbeats while PostgreSQL was away, so a server that has just started calls nobody dead. */
const isAlive = `(seen > clock_timestamp() - interval '${deadAfter} ms'
  or isfinite(seen) and pg_postmaster_start_time() > clock_timestamp() - interval '${deadAfter + 2 * every} ms')`

export function createWorkers(database: Database): Workers {
  // Heartbeats must not wait behind large reads and writes.
  const connection = database.connect()
  const id = `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`
  const held = new Map<string, Held>()
  const taking = new Map<string, Promise<Lease>>()
  let living: { ids: ReadonlySet<string>; at: number } = { ids: new Set(), at: Number.NEGATIVE_INFINITY }
  let bury: Bury | undefined
  let isBurying = false
  let beating: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  function query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return retrying(async () => (await (await connection.client()).query<T>({ text, values })).rows)
  }

  /** The first heartbeat comes before the first lease; later ones come until the worker holds nothing. */
  function start(): Promise<void> {
    beating ??= beat().then(next, (error) => {
      beating = undefined
      throw error
    })
    return beating
  }

  function next() {
    timer = setTimeout(async () => {
      await beat().catch((error) => Log.warn("a heartbeat failed", { error: errorText(error) }))
      if (beating) next()
    }, every)
    timer.unref()
  }

  async function beat() {
    const client = await connection.client()
    const [, known, mine] = await settle([
      client.query({
        name: "beat",
        text: `insert into vitamin.worker (id, seen) values ($1, clock_timestamp())
          on conflict (id) do update set seen = excluded.seen`,
        values: [id],
      }),
      client.query({
        name: "workers",
        text: `select id, ${isAlive} as "isAlive" from vitamin.worker`,
      }),
      client.query({
        name: "own leases",
        text: "select session, epoch::text from vitamin.lease where worker = $1",
        values: [id],
      }),
    ])
    const rows = known!.rows as { id: string; isAlive: boolean }[]
    keepLiving(rows)
    const inPlace = new Set((mine!.rows as Lease[]).map(keyOf))
    for (const { lease } of [...held.values()]) if (!inPlace.has(keyOf(lease))) recheck(lease)
    const dead = rows.flatMap((row) => (row.isAlive || row.id === id ? [] : [row.id]))
    if (bury && dead.length) void buryAll(dead)
  }

  async function buryAll(dead: readonly string[]) {
    if (isBurying) return
    isBurying = true
    try {
      for (const worker of dead) await buryOne(worker)
    } catch (error) {
      Log.warn("the work of a dead worker waits", { error: errorText(error) })
    } finally {
      isBurying = false
    }
  }

  /** The lock ends with its transaction, or with the connection. The row goes last, so that nothing is forgotten. */
  async function buryOne(worker: string) {
    const grave = database.connect()
    try {
      const client = await grave.client()
      await client.query("set idle_in_transaction_session_timeout = 0; begin")
      const lock = "select pg_try_advisory_xact_lock($1) as mine"
      const [row] = (await client.query<{ mine: boolean }>(lock, [leaseLock(`of ${worker}`)])).rows
      const text = `select not isfinite(seen) as "isDrained" from vitamin.worker where id = $1 and not ${isAlive}`
      const gone = row?.mine
        ? (await client.query<{ isDrained: boolean }>(text, [worker])).rows[0]
        : undefined
      if (gone) {
        await bury?.(worker, gone)
        await client.query(`delete from vitamin.worker where id = $1 and not ${isAlive}`, [worker])
        await client.query("delete from vitamin.mail where worker = $1", [worker])
      }
      await client.query("commit")
    } finally {
      await grave.close()
    }
  }

  /** A lease that was taken while the heartbeat was on its way is not in its answer. */
  function recheck(lease: Lease) {
    check([lease]).catch(() => {})
  }

  function keepLiving(rows: { id: string; isAlive: boolean }[]) {
    living = {
      ids: new Set(rows.flatMap((row) => (row.isAlive ? [row.id] : []))),
      at: performance.now(),
    }
  }

  async function take(session: string): Promise<Lease> {
    const known = held.get(session)
    if (known) {
      known.count++
      return known.lease
    }
    const pending = taking.get(session)
    if (pending) {
      await pending.catch(() => {})
      return take(session)
    }
    const taken = takeNow(session)
    taking.set(session, taken)
    try {
      return await taken
    } finally {
      taking.delete(session)
    }
  }

  async function takeNow(session: string): Promise<Lease> {
    await start()
    for (let waits = 0; ; waits++)
      try {
        const [row] = await retrying(() => tryTake(session))
        if (row) return hold(session, row.epoch)
        const holder = await holderOf(session)
        // It may have been released since.
        if (holder !== undefined || waits === mostWaits)
          throw new Taken(session, holder ?? "of somebody else")
      } catch (error) {
        // A worker that was paused in a transaction loses its locks after a few seconds.
        if (errorCode(error) !== lockNotAvailable || waits === mostWaits) throw error
      }
  }

  /** Waits for writes that depend on the lease before: they hold its lock until they are committed. */
  async function tryTake(session: string): Promise<{ epoch: string }[]> {
    const client = await connection.client()
    const [, , taken] = await settle([
      client.query("begin"),
      client.query({
        name: "lock lease",
        text: "select pg_advisory_xact_lock($1)",
        values: [leaseLock(session)],
      }),
      client.query({
        name: "take lease",
        text: `insert into vitamin.lease as l (session, worker, epoch) values ($1, $2, nextval('vitamin.epoch'))
          on conflict (session) do update set worker = excluded.worker, epoch = excluded.epoch
          where l.worker = $2 or not exists (select 1 from vitamin.worker w where w.id = l.worker and ${isAlive})
          returning epoch::text`,
        values: [session, id],
      }),
      client.query("commit"),
    ]).catch((error) => {
      client.query("rollback").catch(() => {})
      throw error
    })
    return taken!.rows as { epoch: string }[]
  }

  function hold(session: string, epoch: string): Lease {
    const ending = new AbortController()
    const lose = () => {
      if (held.get(session)?.lease === lease) held.delete(session)
      ending.abort(new TakenOver(session))
    }
    const lease: Lease = Object.freeze({ session, epoch, signal: ending.signal, lose })
    held.set(session, { lease, count: 1 })
    return lease
  }

  async function release(lease: Lease): Promise<void> {
    const mine = held.get(lease.session)
    if (mine?.lease !== lease || --mine.count > 0) return
    held.delete(lease.session)
    await query("delete from vitamin.lease where session = $1 and epoch = $2", [lease.session, lease.epoch])
  }

  /** Asks again if the answer may be old. Right after it, only code that does not wait lies before the work. */
  async function check(leases: readonly Lease[]): Promise<void> {
    for (;;) {
      const asked = performance.now()
      const rows = await retrying(async () => {
        const client = await connection.client()
        const text = `select l.session, l.epoch::text from vitamin.lease l
          join unnest($1::text[], $2::bigint[]) k(session, epoch) using (session, epoch)`
        const values = [leases.map(({ session }) => session), leases.map(({ epoch }) => epoch)]
        return (await client.query<Lease>({ name: "check lease", text, values })).rows
      })
      const inPlace = new Set(rows.map(keyOf))
      for (const lease of leases)
        if (!inPlace.has(keyOf(lease)) || lease.signal.aborted) {
          lease.lose()
          throw new TakenOver(lease.session)
        }
      if (performance.now() - asked < freshFor) return
    }
  }

  async function holderOf(session: string): Promise<string | undefined> {
    const text = `select l.worker from vitamin.lease l join vitamin.worker w on w.id = l.worker
      where l.session = $1 and ${isAlive}`
    return (await query<{ worker: string }>(text, [session]))[0]?.worker
  }

  async function alive(): Promise<ReadonlySet<string>> {
    if (performance.now() - living.at > every)
      keepLiving(await query(`select id, ${isAlive} as "isAlive" from vitamin.worker`))
    return living.ids
  }

  async function close() {
    const wasThere = beating
    beating = undefined
    clearTimeout(timer)
    held.clear()
    const farewell = async () => {
      const client = await connection.client()
      await client.query("delete from vitamin.lease where worker = $1", [id])
      // The others go on with its jobs at once.
      const text = bury
        ? "update vitamin.worker set seen = '-infinity' where id = $1"
        : "delete from vitamin.worker where id = $1"
      await client.query(text, [id])
    }
    if (wasThere) await Promise.race([farewell().catch(() => {}), sleep(1_000, undefined, { ref: false })])
    await connection.close()
  }

  return Object.freeze<Workers>({
    id,
    take,
    release,
    check,
    holderOf,
    alive,
    isAlive: (worker) => worker === id || living.ids.has(worker),
    async serve(take) {
      bury = take
      await start()
    },
    async countAttempt(job) {
      const text = `insert into vitamin.attempt as a (job, tries) values ($1, 1)
        on conflict (job) do update set tries = a.tries + 1 returning tries`
      return (await query<{ tries: number }>(text, [job]))[0]!.tries
    },
    close,
  })
}

function keyOf({ session, epoch }: Pick<Lease, "session" | "epoch">): string {
  return `${session} ${epoch}`
}
