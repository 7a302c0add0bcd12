// The engine of the jobs alone: processes that run empty jobs of one queue, with the settings that vitamin uses. What
// vitamin does for a prompt is measured beside it.
import { fork } from "node:child_process"
import { once } from "node:events"
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk"
import { tmpDatabase } from "../test/fixture/postgres.ts"
import { until } from "../test/fixture/until.ts"

const queue = "empty"
const applicationVersion = "1"
const logger = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} }

if (process.argv[2] === "worker") await work(process.argv[3]!)

/** Empty jobs a second: `each` jobs of so many sessions, all added at once. */
export async function emptyJobsPerSecond(options: {
  workers: number
  sessions: number
  each: number
}): Promise<number> {
  const { workers, sessions, each } = options
  await using database = await tmpDatabase()
  const children = []
  for (let i = 0; i < workers; i++) {
    const child = fork(new URL(import.meta.url).pathname, ["worker", database.url])
    await once(child, "message")
    children.push(child)
  }
  const client = await DBOSClient.create({
    systemDatabaseUrl: database.url,
    applicationName: "bench",
    logger,
  })
  const began = performance.now()
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      for (let i = 0; i < each; i++)
        await client.enqueue({
          workflowName: "empty",
          queueName: queue,
          queuePartitionKey: String(session),
          appVersion: applicationVersion,
        })
    }),
  )
  const text = "select count(*)::int as count from dbos.workflow_status where status = 'SUCCESS'"
  await until(
    async () => (await database.query<{ count: number }>(text))[0]!.count === sessions * each,
    "all jobs",
  )
  const perSecond = (sessions * each * 1_000) / (performance.now() - began)
  await client.destroy()
  for (const child of children) {
    child.send("stop")
    await once(child, "exit")
  }
  return perSecond
}

async function work(url: string): Promise<void> {
  DBOS.registerWorkflow(async () => {}, { name: "empty" })
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: url,
    systemDatabasePoolSize: 4,
    executorID: String(process.pid),
    applicationVersion,
    listenQueues: [queue],
    logger,
  })
  await DBOS.launch()
  await DBOS.registerQueue(queue, {
    partitionConcurrency: 1,
    workerConcurrency: 16,
    minPollingIntervalMs: 100,
  })
  process.send!("ready")
  await once(process, "message")
  await DBOS.shutdown()
  process.exit()
}
