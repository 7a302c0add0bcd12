// Work that one process of the database does at a time.
import type { Client } from "./connection.ts"
import type { Database } from "./database.ts"

/** Milliseconds. PostgreSQL ends a transaction that is idle for 4 seconds. */
const touchEvery = 1_000

/** Runs `work`, unless another process has the lock. The lock ends with the transaction, or with the connection: a process
 * that dies frees it at once, and one that is paused or cut off after a few seconds. `work` may take long. */
export async function exclusively(
  database: Database,
  lock: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const connection = database.connect()
  let touching: NodeJS.Timeout | undefined
  try {
    const client = await connection.client()
    await client.query("begin")
    const text = "select pg_try_advisory_xact_lock($1) as mine"
    const [row] = (await client.query<{ mine: boolean }>(text, [lock])).rows
    touching = setInterval(() => client.query("select").catch(() => {}), touchEvery).unref()
    if (row?.mine) await work(client)
    await client.query("commit")
  } finally {
    clearInterval(touching)
    await connection.close()
  }
}
