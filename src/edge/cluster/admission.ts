// Adds jobs, and decides which of them may run: one transaction at a time does it in the fleet, so that limits hold at every
// moment. A prompt and its job are stored in one transaction, so there is never one without the other.
import { type Client, type Database, jobLock, settle, transact } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import type { Job, Outcome } from "./job.ts"
import type { JobQueue } from "./job-queue.ts"
import { isAnyWaiting, isStored, moveToWorkers, readState, type State } from "./job-tables.ts"
import * as Limits from "./limits.ts"
import { pickJobs } from "./pick-jobs.ts"

type Added = { id: string; job: Job; project: string; insertion: { text: string; values: string[] } }

export type Admission = Readonly<{
  /** `insertion` stores the prompt of the job. Throws if too many wait already. */
  add(job: Added): Promise<void>
  close(): Promise<void>
}>

/** Milliseconds between two looks at the jobs that wait. */
const every = 100

export function createAdmission(database: Database, jobs: JobQueue<Job, Outcome>): Admission {
  const connection = database.connect()
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let timer = setTimeout(look, every)

  /** The transactions of this worker come one after another: they share a connection. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }

  async function look() {
    try {
      if ((await isAnyWaiting(database)) && !isClosed) await admit()
    } catch (error) {
      if (!isClosed) Log.warn("waiting jobs could not be started", { error: errorText(error) })
    }
    if (!isClosed) timer = setTimeout(look, every)
  }

  function admit(added?: Added): Promise<void> {
    return inTurn(async () => {
      const limits = await Limits.get()
      await transact(connection, async (client, transaction) => {
        const xact = await change(client, limits, added).catch((error) => {
          client.query("rollback").catch(() => {})
          throw error
        })
        transaction.id = xact
        if (added) transaction.isThere = (other) => isStored(other, added.id)
        await client.query("commit")
      })
    })
  }

  /** Returns the id of the transaction. */
  async function change(client: Client, limits: Limits.Limits, added: Added | undefined): Promise<string> {
    // A look leaves it to the worker that has the lock, and comes again: all workers look while a job waits.
    const lock = added ? "pg_advisory_xact_lock" : "pg_try_advisory_xact_lock"
    const [, locked, found] = await settle([
      client.query("begin"),
      client.query(`select ${lock}($1) as mine`, [jobLock("admission")]),
      client.query<{ xact: string }>("select pg_current_xact_id()::text as xact"),
      ...(added ? [client.query(added.insertion)] : []),
    ])
    const { xact } = found!.rows[0] as { xact: string }
    if ((locked!.rows[0] as { mine: unknown }).mine === false) return xact
    if (added)
      await jobs.add(client, { ...added, partition: added.job.sessionId, attributes: namesOf(added) })
    const state = await readState(client)
    const picked = pickJobs({ ...state, limits })
    if (added && !picked.includes(added.id)) refuseIfFull(added, { state, picked, limits })
    await moveToWorkers(client, [...picked, ...state.done])
    return xact
  }

  return Object.freeze<Admission>({
    add: admit,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await last
      await connection.close()
    },
  })
}

function namesOf({ job, project }: Added) {
  return { person: job.person?.name ?? "", project }
}

/** `state` has the new job, and those that were picked, among the jobs that wait. */
function refuseIfFull(
  added: Added,
  { state, picked, limits }: { state: State; picked: string[]; limits: Limits.Limits },
): void {
  const mine = namesOf(added)
  const started = state.waiting.filter(({ id }) => picked.includes(id))
  const others = (isMeant: (names: typeof mine) => boolean) =>
    state.counts.filter(isMeant).reduce((sum, { count }) => sum + count, 0) -
    started.filter(isMeant).length -
    1
  const scopes = [
    {
      name: "waiting.person",
      who: mine.person || "the owner",
      count: others((one) => one.person === mine.person),
    },
    { name: "waiting.project", who: "this project", count: others((one) => one.project === mine.project) },
    { name: "waiting.fleet", who: "the fleet", count: others(() => true) },
  ] as const
  const full = scopes.find(({ name, count }) => count >= limits[name])
  if (full) throw new Limits.TooMany({ ...full, limit: limits[full.name] })
}
