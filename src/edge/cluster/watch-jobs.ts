// Finds jobs that the database says this worker runs, and that it does not: the connection was lost when it took the job, or
// when it told the end. They would block their sessions, so they are put back.
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import type { JobQueue } from "./job-queue.ts"

export type JobWatch = Readonly<{
  /** Does the work of a job. */
  run<T>(id: string, work: () => Promise<T>): Promise<T>
  /** Begin to look. */
  start(jobs: Pick<JobQueue<unknown, unknown>, "runningOf" | "putBack">): void
  stop(): void
}>

/** Milliseconds. A job that is found twice is lost; between the first and the second look it would have begun. */
const lookEvery = 5_000
/** The engine tells the end of a job after its work, and tries it again if the database is away. */
const endsWithin = 30_000

export function watchJobs(worker: string): JobWatch {
  const running = new Map<string, symbol>()
  let missing: ReadonlySet<string> = new Set()
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
    start(jobs) {
      const look = async () => {
        const lost = (await jobs.runningOf(worker)).flatMap(({ id }) => (running.has(id) ? [] : [id]))
        const again = lost.filter((id) => missing.has(id))
        missing = new Set(lost)
        for (const id of again) {
          Log.warn("a job was lost here and is put back", { id })
          await jobs.putBack(id)
        }
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
