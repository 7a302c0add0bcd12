// Work that one process of the database does at a time.
import type { Client } from "./connection.ts"
import type { Database } from "./database.ts"

/** Runs `work`, unless another process has the lock. The lock ends with the transaction, or with the connection: a process
 * that dies frees it at once. `work` may take long, so the transaction may be idle. */
export async function exclusively(
  database: Database,
  lock: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const connection = database.connect()
  try {
    const client = await connection.client()
    await client.query("set idle_in_transaction_session_timeout = 0; begin")
    const text = "select pg_try_advisory_xact_lock($1) as mine"
    const [row] = (await client.query<{ mine: boolean }>(text, [lock])).rows
    if (row?.mine) await work(client)
    await client.query("commit")
  } finally {
    await connection.close()
  }
}
