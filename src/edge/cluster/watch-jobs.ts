// Finds jobs that nobody runs although the database says so. They would block their sessions.
// - Jobs of this worker that it does not know: the connection was lost when it took the job, or when it told the end.
// - Jobs of a worker that counted as dead, took one more job before its next heartbeat, and then died.
import type { Database } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { errorText } from "#util/error.ts"
import type { JobQueue } from "./job-queue.ts"
import { workersWithoutRow } from "./job-tables.ts"

export type JobWatch = Readonly<{
  /** Does the work of a job. */
  run<T>(id: string, work: () => Promise<T>): Promise<T>
  /** Begin to look. */
  start(jobs: Pick<JobQueue<unknown, unknown>, "runningOf" | "putBack">, database: Database): void
  stop(): void
}>

/** Milliseconds. What is found twice is lost: between two looks a job would have begun, and a worker sent a heartbeat. */
const lookEvery = 5_000
/** The engine tells the end of a job after its work, and tries it again if the database is away. */
const endsWithin = 30_000

export function watchJobs(worker: string): JobWatch {
  const running = new Map<string, symbol>()
  const lostJobs = createTwice()
  const lostWorkers = createTwice()
  let timer: NodeJS.Timeout | undefined

  return Object.freeze<JobWatch>({
    async run(id, work) {
      const mine = Symbol()
      running.set(id, mine)
      const forget = () => void (running.get(id) === mine && running.delete(id))
      try {
        const done = await work()
        setTimeout(forget, endsWithin).unref()
        return done
      } catch (error) {
        forget()
        throw error
      }
    },
    start(jobs, database) {
      const look = async () => {
        const unknown = (await jobs.runningOf(worker)).flatMap(({ id }) => (running.has(id) ? [] : [id]))
        for (const id of lostJobs(unknown)) {
          Log.warn("a job was lost here and is put back", { id })
          await jobs.putBack(id)
        }
        const dead = lostWorkers(await workersWithoutRow(database))
        if (dead.length) await Worker.addDead(dead)
      }
      const next = () => {
        timer = setTimeout(async () => {
          await look().catch((error) =>
            Log.debug("lost jobs were not looked for", { error: errorText(error) }),
          )
          if (timer) next()
        }, lookEvery).unref()
      }
      next()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  })
}

/** Returns those of the given names that were among the names of the last call. */
function createTwice(): (names: readonly string[]) => string[] {
  let last: ReadonlySet<string> = new Set()
  return (names) => {
    const twice = names.filter((name) => last.has(name))
    last = new Set(names)
    return twice
  }
}
