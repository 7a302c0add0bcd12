// Schedules as rows of DBOS: every worker reads them and fires a tick as a job whose id is made of the schedule and the time,
// so that a tick is one job however many workers fire it. Any worker takes the job. Loaded with the queue of jobs, or by a
// command that only changes the rows.
import { AsyncLocalStorage } from "node:async_hooks"
import { DBOS, DBOSClient, type WorkflowSchedule } from "@dbos-inc/dbos-sdk"
import * as Schedule from "#engine/schedule/schedule.ts"
import { createPool, type Database, jobLock, withLock } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import { applicationName, quiet, schemaName } from "./engine-config.ts"

/** `id`: the job of the tick. */
export type Tick = { id: string; scheduleId: string; time: number }
export type Ticks = ReturnType<typeof registerTicks>
type Engine = Pick<
  DBOSClient,
  "listSchedules" | "getSchedule" | "deleteSchedule" | "pauseSchedule" | "resumeSchedule" | "listWorkflows"
>
type Create = (options: Omit<Parameters<DBOSClient["createSchedule"]>[0], "workflowName">) => Promise<void>

/** Ticks have a queue of their own: workers of an older version do not listen to it. */
export const tickQueue = "vitamin-schedule"
const workflowName = "schedule"
const atOnce = 4
const pollEvery = 500
/** All workers know a new schedule after so many milliseconds. */
export const readEvery = 2_000

/** Call it before the engine starts. `run` starts the prompt of a tick. */
export function registerTicks(run: (tick: Tick) => Promise<void>) {
  // Inside a job the engine records each call to it as a step, and expects the same steps if the job runs again.
  const outside = AsyncLocalStorage.snapshot()
  const work = async (time: Date, { id: scheduleId }: { id: string }) => {
    const id = DBOS.workflowID!
    await outside(() => run({ id, scheduleId, time: new Date(time).getTime() }))
  }
  const workflowFn = DBOS.registerWorkflow(work, { name: workflowName })
  return Object.freeze({
    rows: rowsOf(DBOS, (options) => DBOS.createSchedule({ ...options, workflowFn })),
    /** Call it after the engine started. */
    async listen() {
      await DBOS.registerQueue(tickQueue, { workerConcurrency: atOnce, minPollingIntervalMs: pollEvery })
    },
    /** Goes on with the ticks of a worker that is gone, or ends those that may not be tried again. */
    async takeOver(executorId: string, mayTry: (id: string) => Promise<boolean>) {
      const left = await DBOS.listWorkflows({ executorId, status: "PENDING", queueName: tickQueue })
      for (const { workflowID: id } of left)
        if (await mayTry(id)) await DBOS.resumeWorkflow(id, { queueName: tickQueue })
        else await DBOS.cancelWorkflow(id)
    },
  })
}

/** For a command, which is no worker. */
export async function openScheduleRows(database: Database): Promise<Schedule.Rows & AsyncDisposable> {
  const [found] = await database.read<{ name: string | null }>({
    name: "schedules",
    text: "select to_regclass($1)::text as name",
    values: [`${schemaName}.workflow_schedules`],
  })
  if (!found?.name) throw new Schedule.NoServer()
  const client = await DBOSClient.create({
    systemDatabaseUrl: database.url,
    systemDatabaseSchemaName: schemaName,
    systemDatabasePoolSize: 1,
    // It would be set by a query beside the first one, of which pg warns on stderr.
    systemDatabaseIdleTransactionTimeoutMs: 0,
    applicationName,
    logger: quiet,
  })
  const rows = rowsOf(client, (options) => client.createSchedule({ ...options, workflowName }))
  return { ...rows, [Symbol.asyncDispose]: () => client.destroy() }
}

/** Creates the tables of the engine, as the start of a server does. `DBOS.migrate` would do the same and write to stdout. */
export async function createTables(database: Database): Promise<void> {
  const { ensureSystemDatabase } = await import("@dbos-inc/dbos-sdk/internal/system_database")
  const pool = createPool(database.url, { max: 1, hasStarted: () => false })
  const create = () => ensureSystemDatabase(database.url, quiet as never, pool, schemaName)
  await withLock(database.connect(), jobLock("start"), create).finally(() => pool.end())
}

function rowsOf(engine: Engine, create: Create): Schedule.Rows {
  return Object.freeze<Schedule.Rows>({
    async add({ id, cron: schedule, timezone: cronTimezone, paused: _, ...task }) {
      const options = { cronTimezone, queueName: tickQueue }
      await create({ scheduleName: id, schedule, context: { id, task }, options })
    },
    async list() {
      return (await engine.listSchedules({ workflowName })).flatMap((one) => rowOf(one) ?? [])
    },
    async find(id) {
      const found = await engine.getSchedule(id)
      return found?.workflowName === workflowName ? rowOf(found) : undefined
    },
    setPaused: (id, paused) => (paused ? engine.pauseSchedule(id) : engine.resumeSchedule(id)),
    remove: (id) => engine.deleteSchedule(id),
    async statesOf(ids) {
      if (!ids.length) return new Map()
      const found = await engine.listWorkflows({ workflowIDs: ids, loadInput: false, loadOutput: false })
      const isOpen = (status: string) => ["ENQUEUED", "DELAYED", "PENDING"].includes(status)
      return new Map(found.map(({ workflowID, status }) => [workflowID, isOpen(status) ? "open" : "over"]))
    },
  })
}

/** A row that cannot be read is left out and named in the log. */
function rowOf({ scheduleName: id, schedule, cronTimezone, status, context }: WorkflowSchedule) {
  const { task } = context as { task?: object }
  const { data, error } = Schedule.Row.safeParse({
    ...task,
    id,
    cron: schedule,
    timezone: cronTimezone ?? "UTC",
    paused: status === "PAUSED",
  })
  if (error) Log.warn("a schedule cannot be read", { id, error: error.message })
  return data
}
