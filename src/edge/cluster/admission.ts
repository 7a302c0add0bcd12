// Adds jobs, and decides which of them may run: one transaction at a time does it in the fleet, so that limits hold at every
// moment. A prompt and its job are stored in one transaction, so there is never one without the other.
import {
  type Client,
  createOutage,
  type Database,
  isLost,
  jobLock,
  settle,
  transact,
  Uncertain,
} from "#kernel/database/database.ts"
import { failureOf } from "#kernel/storage/table-writer.ts"
import type { Job, Outcome } from "./job.ts"
import type { JobQueue } from "./job-queue.ts"
import { isAnyWaiting, isStored, moveToWorkers, readState, removeJobs } from "./job-tables.ts"
import * as Limits from "./limits.ts"
import { pickJobs } from "./pick-jobs.ts"
import { type New, type Refused, refusedOf } from "./refused-of.ts"

type Added = New & {
  job: Job
  /** Stores the prompt of the job. */
  insertion: { text: string; values: string[] }
}
type Waiter = { added: Added; resolve(): void; reject(error: unknown): void }

export type Admission = Readonly<{
  /** Throws if too many wait already. */
  add(job: Added): Promise<void>
  close(): Promise<void>
}>

/** Milliseconds between two looks at the jobs that wait. */
const every = 100
const mostAtOnce = 100

export function createAdmission(database: Database, jobs: JobQueue<Job, Outcome>): Admission {
  const connection = database.connect()
  const outage = createOutage("waiting jobs could not be started", "waiting jobs are started again")
  const waiters: Waiter[] = []
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let timer = setTimeout(look, every)

  /** The transactions of this worker come one after another: they share a connection. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }

  /** Jobs that come while a transaction runs share the next one. */
  function add(added: Added): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (waiters.push({ added, resolve, reject }) === 1) void inTurn(addWaiting)
    return promise
  }

  async function addWaiting() {
    const batch = waiters.splice(0, mostAtOnce)
    if (waiters.length) void inTurn(addWaiting)
    await addAll(batch)
  }

  async function addAll(batch: readonly Waiter[]): Promise<void> {
    try {
      const refused = await admit(batch.map(({ added }) => added))
      for (const { added, resolve, reject } of batch) {
        const reason = refused.get(added.id)
        if (reason) reject(reason)
        else resolve()
      }
    } catch (error) {
      const isOfOne = batch.length > 1 && !isLost(error) && !(error instanceof Uncertain)
      // A job that the database refuses must not take the others along.
      if (isOfOne) for (const one of batch) await addAll([one])
      else for (const { reject } of batch) reject(failureOf("The prompt", database.shown, error))
    }
  }

  async function look() {
    try {
      if ((await isAnyWaiting(database)) && !isClosed) await inTurn(() => admit([]))
      outage.over()
    } catch (error) {
      if (!isClosed) outage.failed(error)
    }
    if (!isClosed) timer = setTimeout(look, every)
  }

  /** Adds jobs, and moves those that may run to the workers. Returns the jobs that were refused. */
  async function admit(batch: readonly Added[]): Promise<Refused> {
    const limits = await Limits.get()
    let refused: Refused = new Map()
    await transact(connection, async (client, transaction) => {
      const changed = await change(client, limits, batch).catch((error) => {
        client.query("rollback").catch(() => {})
        throw error
      })
      refused = changed.refused
      transaction.id = changed.xact
      const stored = batch.find(({ id }) => !refused.has(id))
      if (stored) transaction.isThere = (other) => isStored(other, stored.id)
      await client.query("commit")
    })
    return refused
  }

  async function change(client: Client, limits: Limits.Limits, batch: readonly Added[]) {
    // A look leaves it to the worker that has the lock, and comes again: all workers look while a job waits.
    const lock = batch.length ? "pg_advisory_xact_lock" : "pg_try_advisory_xact_lock"
    const [, locked, found] = await settle([
      client.query("begin"),
      client.query(`select ${lock}($1) as mine`, [jobLock("admission")]),
      client.query<{ xact: string }>("select pg_current_xact_id()::text as xact"),
      ...batch.map(({ insertion }) => client.query(insertion)),
    ])
    const { xact } = found!.rows[0] as { xact: string }
    if ((locked!.rows[0] as { mine: unknown }).mine === false) return { xact, refused: new Map() as Refused }
    for (const { id, job, person, project } of batch)
      await jobs.add(client, { id, job, partition: job.sessionId, attributes: { person, project } })
    const state = await readState(client)
    const picked = pickJobs({ ...state, limits })
    const refused = refusedOf(batch, { state, picked, limits })
    await removeJobs(client, [...refused.keys()])
    await moveToWorkers(client, [...picked, ...state.done])
    return { xact, refused }
  }

  return Object.freeze<Admission>({
    add,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await last
      await connection.close()
    },
  })
}
