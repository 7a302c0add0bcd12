// Leases of sessions in the database. A lease that another live worker holds is not taken; one of a dead worker is.
import { setTimeout as sleep } from "node:timers/promises"
import { type Connection, leaseLock, retrying, settle } from "#kernel/database/database.ts"
import { errorCode } from "#util/error.ts"
import { every, isAlive, isSeen } from "./heartbeat.ts"
import { type Lease, Taken, TakenOver, type Workers } from "./worker.ts"

type Held = { lease: Lease; count: number }
export type Leases = Pick<Workers, "take" | "release" | "check" | "holderOf"> &
  Readonly<{
    /** `rows`: the leases of this worker by its heartbeat. Those that are missing are checked, and those that nobody here
     * holds are released: the database was away when that was tried. */
    compare(rows: readonly Pick<Lease, "session" | "epoch">[]): void
    forget(): void
  }>

/** Milliseconds. A check whose answer took longer may be out of date: the process may have been paused. */
const freshFor = 1_000
const lockNotAvailable = "55P03"
const mostWaits = 3

/** Whether the heartbeats of this worker, $2, arrive. Without them it cannot tell who is dead. */
const isOwnSeen = `exists (select 1 from vitamin.worker w where w.id = $2 and ${isSeen})`

/** `start` sends the first heartbeat, which comes before the first lease. */
export function createLeases(options: {
  id: string
  connection: Connection
  start: () => Promise<void>
}): Leases {
  const { id, connection, start } = options
  const held = new Map<string, Held>()
  const taking = new Map<string, Promise<Lease>>()

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
        if (holder !== undefined && holder !== id) throw new Taken(session, holder)
        // It may have been released since, or the own heartbeat is late.
        if (waits === mostWaits) throw new Taken(session, "that had it")
        await sleep(every / 2)
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
            and ${isOwnSeen}
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
    await remove(lease)
  }

  async function remove({ session, epoch }: Pick<Lease, "session" | "epoch">): Promise<void> {
    await query("delete from vitamin.lease where session = $1 and epoch = $2", [session, epoch])
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
      where l.session = $1 and (${isAlive} or isfinite(w.seen) and not ${isOwnSeen})`
    return (await query<{ worker: string }>(text, [session, id]))[0]?.worker
  }

  function query<T extends object>(text: string, values: unknown[]): Promise<T[]> {
    return retrying(async () => (await (await connection.client()).query<T>({ text, values })).rows)
  }

  return Object.freeze<Leases>({
    take,
    release,
    check,
    holderOf,
    compare(rows) {
      const inPlace = new Set(rows.map(keyOf))
      // A lease that was taken while the heartbeat was on its way is not in its answer.
      for (const { lease } of [...held.values()])
        if (!inPlace.has(keyOf(lease))) check([lease]).catch(() => {})
      for (const row of rows)
        if (!held.has(row.session) && !taking.has(row.session)) remove(row).catch(() => {})
    },
    forget: () => held.clear(),
  })
}

function keyOf({ session, epoch }: Pick<Lease, "session" | "epoch">): string {
  return `${session} ${epoch}`
}
