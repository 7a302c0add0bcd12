// This process as one of several workers on a database. A worker holds the lease of each session that it works on. Every
// lease has an epoch of its own, and the records of the work are written only while the lease is in place (fencing). Without
// a database there are no leases, and nothing here costs anything.
import { AsyncLocalStorage } from "node:async_hooks"
import { NamedError } from "#util/error.ts"

export type Lease = Readonly<{
  session: string
  epoch: string
  /** Aborts when another worker has taken the session over. */
  signal: AbortSignal
  /** Called when somebody finds out that the lease is not in place any more. */
  lose(): void
}>

/** Takes over the work of a worker that is gone. `isDrained`: it was stopped, and did not die. */
export type TakeOver = (worker: string, how: { isDrained: boolean }) => Promise<void>

export type Workers = Readonly<{
  id: string
  take(session: string): Promise<Lease>
  release(lease: Lease): Promise<void>
  check(leases: readonly Lease[]): Promise<void>
  holderOf(session: string): Promise<string | undefined>
  alive(): Promise<ReadonlySet<string>>
  isAlive(worker: string): boolean
  /** Counts as alive from now on, also without a lease. `takeOver` is called for each worker that died, by one worker at a
   * time; if it fails, it is called again, here or elsewhere. */
  serve(takeOver: TakeOver, slots: number): Promise<void>
  /** Adds workers that are dead, so that their work is taken over. One that is alive after all stays alive. */
  addDead(workers: readonly string[]): Promise<void>
  countAttempt(job: string, attempt: string): Promise<number>
  close(): Promise<void>
}>

/** Another worker, which is alive, holds the lease of a session. */
export class Taken extends NamedError {
  readonly worker: string

  constructor(session: string, worker: string) {
    super("Worker.SessionBusy", `Session ${session} is busy on the worker ${worker}.`, { session, worker })
    this.worker = worker
  }
}

/** The work on a session goes on elsewhere. */
export class TakenOver extends NamedError {
  constructor(session: string) {
    super("Worker.TakenOver", `Session ${session} was taken over by another worker.`, { session })
  }
}

const leases = new AsyncLocalStorage<readonly Lease[]>()
let workers: Workers | undefined

/** Called with the database of this process, if there is one. */
export function use(other: Workers | undefined): void {
  workers = other
}

/** The id of this worker; undefined without a database. */
export function id(): string | undefined {
  return workers?.id
}

/** Take the lease of a session, or throw `Taken`. This worker can take it several times. Undefined without a database. */
export async function take(session: string): Promise<Lease | undefined> {
  return workers?.take(session)
}

export async function release(lease: Lease | undefined): Promise<void> {
  if (lease) await workers?.release(lease)
}

/** Run `fn` with the lease of a session, or throw `Taken`. */
export async function inLease<T>(session: string, fn: () => Promise<T>): Promise<T> {
  const lease = await take(session)
  return run(lease, fn).finally(() => release(lease))
}

/** Everything that `fn` writes depends on the lease, and on those of the callers. */
export function run<T>(lease: Lease | undefined, fn: () => T): T {
  return lease ? leases.run([...held(), lease], fn) : fn()
}

/** The leases that a write of the current work depends on. */
export function held(): readonly Lease[] {
  return leases.getStore() ?? []
}

/** Asks the database whether the leases of the current work are in place; throws `TakenOver` if not. */
export async function check(): Promise<void> {
  const mine = held()
  if (mine.length) await workers?.check(mine)
}

/** The id of the live worker that holds the lease of a session. */
export async function holderOf(session: string): Promise<string | undefined> {
  return workers?.holderOf(session)
}

/** Stay alive for the others until the database is closed. `takeOver` takes over the work of a worker that died. `slots`: how
 * many jobs this worker runs at once. */
export async function serve(takeOver: TakeOver, slots: number): Promise<void> {
  await workers?.serve(takeOver, slots)
}

/** Have the work of dead workers taken over that have no row any more. */
export async function addDead(dead: readonly string[]): Promise<void> {
  await workers?.addDead(dead)
}

/** How often this job was tried in vain. `attempt` names the last time, which counts once. */
export async function countAttempt(job: string, attempt: string): Promise<number> {
  return (await workers?.countAttempt(job, attempt)) ?? 0
}

/** The ids of the workers that are alive. At most half a second old. */
export async function alive(): Promise<ReadonlySet<string>> {
  return (await workers?.alive()) ?? new Set()
}

/** As `alive` last said. */
export function isAlive(worker: string): boolean {
  return workers?.isAlive(worker) ?? false
}
