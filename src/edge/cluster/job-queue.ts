// The queue of jobs, which DBOS keeps in the database: a job is one prompt, any worker takes it, and a session has one at a
// time, in order. The engine is loaded with this file; it exists once in a process.
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk"
import { type Client, createPool } from "#kernel/database/database.ts"
import { NamedError } from "#util/error.ts"
import { applicationName, quiet, schemaName } from "./engine-config.ts"
import { queue, waitingQueue } from "./job-tables.ts"
import { readEvery, registerTicks, type Tick, type Ticks, tickQueue } from "./schedule-rows.ts"

export type JobQueue<Job, Outcome> = Readonly<{
  /** Adds a job in a transaction of the caller. It waits until it is moved to the workers. `partition`: its jobs run one
   * after another. */
  add(
    client: Client,
    job: { id: string; job: Job; partition: string; attributes: Record<string, string> },
  ): Promise<void>
  /** What `run` returned, or what it threw; undefined while the job waits or runs. */
  endOf(id: string): Promise<{ outcome: Outcome } | { error: unknown } | undefined>
  /** The jobs that a worker was running. */
  runningOf(worker: string): Promise<{ id: string; job: Job }[]>
  /** Put a running job back into the queue, for any worker. */
  putBack(id: string): Promise<void>
  /** End a running job, so that nobody runs it again. */
  cancel(id: string): Promise<void>
  /** Remove the jobs that ended before a time, in milliseconds since 1970 by the clock of the database. */
  removeFinished(before: number): Promise<void>
  /** The schedules, and what they fire. */
  ticks: Ticks
  /** Take no further job. Those that run go on. */
  stop(): Promise<void>
}>

const workflowName = "prompt"
/** Everything that workers of different versions must agree on is in the arguments of a job. */
const applicationVersion = "1"
const pollEvery = 100
const connections = 4
const removedAtOnce = 500
/** The end of a cancelled job, for a client that has not heard the reason from the worker that gave it up. */
const givenUp = new NamedError(
  "Prompt.LostWorkersLimit",
  "The prompt was stopped: its workers ended while they ran it. It is not tried again.",
)

/** `run` does the work of a job, `tick` starts a run of a schedule. `atOnce`: the most jobs of this worker. */
export async function createJobQueue<Job, Outcome>(options: {
  url: string
  worker: string
  atOnce: number
  run: (id: string, job: Job) => Promise<Outcome>
  tick: (tick: Tick) => Promise<void>
}): Promise<JobQueue<Job, Outcome>> {
  const { url, worker, atOnce, run, tick } = options
  DBOS.registerWorkflow(async (id: string, job: Job) => run(id, job), { name: workflowName })
  const ticks = registerTicks(tick)
  let hasStarted = false
  const pool = createPool(url, { max: connections, hasStarted: () => hasStarted })
  DBOS.setConfig({
    name: applicationName,
    systemDatabaseUrl: url,
    systemDatabaseSchemaName: schemaName,
    systemDatabasePool: pool,
    executorID: worker,
    applicationVersion,
    listenQueues: [queue, tickQueue],
    schedulerPollingIntervalMs: readEvery,
    logger: quiet,
  })
  await DBOS.launch()
  await DBOS.registerQueue(queue, {
    partitionConcurrency: 1,
    workerConcurrency: atOnce,
    minPollingIntervalMs: pollEvery,
  })
  // It only builds rows, and opens no connection.
  const client = await DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabaseSchemaName: schemaName,
    applicationName,
    logger: quiet,
  })
  await ticks.listen()
  hasStarted = true
  let stopped: Promise<void> | undefined

  return Object.freeze<JobQueue<Job, Outcome>>({
    async add(transaction, { id, job, partition, attributes }) {
      const options = {
        workflowID: id,
        workflowName,
        queueName: waitingQueue,
        queuePartitionKey: partition,
        attributes,
        appVersion: applicationVersion,
      }
      await client.enqueueInTransaction(transaction as never, options, id, job)
    },
    async endOf(id) {
      const [found] = await DBOS.listWorkflows({ workflowIDs: [id], loadOutput: true })
      if (found?.status === "SUCCESS") return { outcome: found.output as Outcome }
      if (found?.status === "CANCELLED") return { error: givenUp }
      return found?.status === "ERROR" ? { error: found.error } : undefined
    },
    async runningOf(executorId) {
      const found = await DBOS.listWorkflows({ executorId, status: "PENDING", queueName: queue })
      return found.map(({ workflowID, input }) => ({ id: workflowID, job: input![1] as Job }))
    },
    async putBack(id) {
      await DBOS.resumeWorkflow(id, { queueName: queue })
    },
    async cancel(id) {
      await DBOS.cancelWorkflow(id)
    },
    async removeFinished(before) {
      const completedBefore = new Date(before).toISOString()
      for (;;) {
        const found = await DBOS.listWorkflows({ completedBefore, limit: removedAtOnce, loadInput: false })
        if (!found.length) return
        await DBOS.deleteWorkflows(found.map(({ workflowID }) => workflowID))
      }
    },
    ticks,
    stop() {
      stopped ??= DBOS.shutdown().then(() => pool.end())
      return stopped
    },
  })
}
