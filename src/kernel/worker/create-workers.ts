// This worker in the database: its heartbeat, which workers are alive, and its leases. A worker that was silent too long is
// dead for the others, which may take its sessions; if it was only slow, its leases are gone.
import { AsyncLocalStorage } from "node:async_hooks"
import { randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { createOutage, type Database, retrying, settle, Unreachable } from "#kernel/database/database.ts"
import { NamedError } from "#util/error.ts"
import { createLeases } from "./create-leases.ts"
import { deadAfter, every, heartbeat, isAlive } from "./heartbeat.ts"
import { takeOverFrom } from "./take-over-from.ts"
import type { Lease, TakeOver, Workers } from "./worker.ts"

const known = `select id, ${isAlive} as "isAlive" from vitamin.worker w`

export function createWorkers(database: Database): Workers {
  // Heartbeats must not wait behind large reads and writes.
  const connection = database.connect()
  const id = `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`
  const leases = createLeases({ id, connection, start })
  let living: { ids: ReadonlySet<string>; at: number } = { ids: new Set(), at: Number.NEGATIVE_INFINITY }
  let takeOver: TakeOver | undefined
  let slots = 0
  let isTakingOver = false
  let beating: Promise<void> | undefined
  /** By the monotonic clock. */
  let firstBeat = Number.POSITIVE_INFINITY
  // The first lease may be taken inside a job; what the heartbeat starts later is no part of that job.
  const outside = AsyncLocalStorage.snapshot()
  let timer: NodeJS.Timeout | undefined
  const silence = createOutage("a heartbeat failed", "heartbeats arrive again")
  const delay = createOutage("the work of a dead worker waits", "the work of dead workers goes on")

  function query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return retrying(async () => (await (await connection.client()).query<T>({ text, values })).rows)
  }

  /** The first heartbeat comes before the first lease; later ones come until the end. */
  function start(): Promise<void> {
    beating ??= outside(() =>
      beat().then(next, (error) => {
        beating = undefined
        throw error
      }),
    )
    return beating
  }

  function next() {
    timer = setTimeout(async () => {
      await beat().then(silence.over, (error) =>
        silence.failed(error instanceof NamedError ? error : new Unreachable(database.shown, error)),
      )
      if (beating) next()
    }, every)
    timer.unref()
  }

  async function beat() {
    const client = await connection.client()
    const [, workers, mine] = await settle([
      client.query({
        name: "beat",
        text: heartbeat,
        values: [id, slots],
      }),
      client.query({
        name: "workers",
        text: known,
      }),
      client.query({
        name: "own leases",
        text: "select session, epoch::text from vitamin.lease where worker = $1",
        values: [id],
      }),
    ])
    const rows = workers!.rows as { id: string; isAlive: boolean }[]
    keepLiving(rows)
    leases.compare(mine!.rows as Lease[])
    const dead = rows.flatMap((row) => (row.isAlive || row.id === id ? [] : [row.id]))
    firstBeat = Math.min(firstBeat, performance.now())
    // A worker that starts right after an outage must not be faster than those that come back.
    const mayJudge = performance.now() - firstBeat > deadAfter
    if (takeOver && dead.length && mayJudge) void takeOverFromAll(dead, takeOver)
  }

  async function takeOverFromAll(dead: readonly string[], takeOver: TakeOver) {
    if (isTakingOver) return
    isTakingOver = true
    let isWhole = true
    for (const worker of dead)
      await takeOverFrom(database, worker, takeOver).catch((error) => {
        isWhole = false
        delay.failed(error, { worker })
      })
    if (isWhole) delay.over()
    isTakingOver = false
  }

  function keepLiving(rows: { id: string; isAlive: boolean }[]) {
    living = {
      ids: new Set(rows.flatMap((row) => (row.isAlive ? [row.id] : []))),
      at: performance.now(),
    }
  }

  async function alive(): Promise<ReadonlySet<string>> {
    // After an outage the own heartbeat comes first: from then on the others have time to come back.
    if (performance.now() - living.at > every)
      if (beating) await beat()
      else keepLiving(await query(known))
    return living.ids
  }

  async function close() {
    const wasThere = beating
    beating = undefined
    clearTimeout(timer)
    leases.forget()
    const leave = async () => {
      const client = await connection.client()
      await client.query("delete from vitamin.lease where worker = $1", [id])
      // The others go on with its jobs at once.
      const text = takeOver
        ? "update vitamin.worker set seen = '-infinity' where id = $1"
        : "delete from vitamin.worker where id = $1"
      await client.query(text, [id])
    }
    if (wasThere) await Promise.race([leave().catch(() => {}), sleep(1_000, undefined, { ref: false })])
    await connection.close()
  }

  return Object.freeze<Workers>({
    id,
    take: leases.take,
    release: leases.release,
    check: leases.check,
    holderOf: leases.holderOf,
    alive,
    isAlive: (worker) => worker === id || living.ids.has(worker),
    async serve(work, jobs) {
      takeOver = work
      slots = jobs
      await start()
    },
    async addDead(workers) {
      const text = `insert into vitamin.worker (id, seen, slots)
        select id, to_timestamp(0), 0 from unnest($1::text[]) id on conflict do nothing`
      await query(text, [workers])
    },
    async countAttempt(job, attempt) {
      const text = `insert into vitamin.attempt as a (job, tries, last) values ($1, 1, $2) on conflict (job) do update
        set tries = a.tries + (a.last is distinct from excluded.last)::int, last = excluded.last returning tries`
      return (await query<{ tries: number }>(text, [job, attempt]))[0]!.tries
    },
    close,
  })
}
