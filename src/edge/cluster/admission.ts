// Adds jobs. A prompt and its job are stored in one transaction, so there is never one without the other.
import { type Client, type Database, settle, transact } from "#kernel/database/database.ts"
import type { Job, Outcome } from "./job.ts"
import type { JobQueue } from "./job-queue.ts"

type Added = { id: string; job: Job; insertion: { text: string; values: string[] } }

export type Admission = Readonly<{
  /** `insertion` stores the prompt of the job. */
  add(job: Added): Promise<void>
  close(): Promise<void>
}>

export function createAdmission(database: Database, jobs: JobQueue<Job, Outcome>): Admission {
  const connection = database.connect()
  let last: Promise<unknown> = Promise.resolve()

  /** The transactions of this worker come one after another: they share a connection. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }

  async function addIn(client: Client, { id, job, insertion }: Added): Promise<string> {
    const [, , found] = await settle([
      client.query("begin"),
      client.query(insertion),
      client.query<{ xact: string }>("select pg_current_xact_id()::text as xact"),
    ])
    await jobs.add(client, { id, job, partition: job.sessionId })
    return (found!.rows[0] as { xact: string }).xact
  }

  return Object.freeze<Admission>({
    add: (job) =>
      inTurn(() =>
        transact(connection, async (client, transaction) => {
          const xact = await addIn(client, job).catch((error) => {
            client.query("rollback").catch(() => {})
            throw error
          })
          transaction.id = xact
          await client.query("commit")
        }),
      ),
    close: connection.close,
  })
}
