// Removes what finished jobs leave in the database. Every worker tries it at its start and now and then; one at a time
// does it.
import { type Database, exclusively, jobLock } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { schemaName } from "./engine-config.ts"
import type { JobQueue } from "./job-queue.ts"

/** Milliseconds. A client that waits for the end of a job asks for it every few seconds. */
const keptFor = 60 * 60_000
const every = 60_000

/** Messages to workers that are gone are read by nobody. */
const leftovers = [
  `delete from vitamin.attempt a where not exists (select 1 from ${schemaName}.workflow_status j where j.workflow_uuid = a.job)`,
  "delete from vitamin.mail m where not exists (select 1 from vitamin.worker w where w.id = m.worker)",
]

export function sweepJobs<Job, Outcome>(
  database: Database,
  jobs: JobQueue<Job, Outcome>,
): Readonly<{ stop(): void }> {
  const timer = setInterval(sweep, every).unref()
  let isStopped = false
  sweep()

  function sweep() {
    exclusively(database, jobLock("sweep"), async (client) => {
      await jobs.removeFinished(database.now() - keptFor)
      for (const text of leftovers) await client.query(text)
    }).catch((error) => {
      if (!isStopped) Log.warn("finished jobs were not removed", { error: errorText(error) })
    })
  }

  return Object.freeze({
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  })
}
