// Takes over the work of a worker that is gone. One worker at a time does it: the lock ends with its transaction, or with
// the connection. The row of the worker is removed last, so that the work is found again if this process dies meanwhile.
import { type Database, leaseLock } from "#kernel/database/database.ts"
import { isAlive } from "./heartbeat.ts"
import type { TakeOver } from "./worker.ts"

export async function takeOverFrom(database: Database, worker: string, takeOver: TakeOver): Promise<void> {
  const connection = database.connect()
  try {
    const client = await connection.client()
    await client.query("set idle_in_transaction_session_timeout = 0; begin")
    const lock = "select pg_try_advisory_xact_lock($1) as mine"
    const [row] = (await client.query<{ mine: boolean }>(lock, [leaseLock(`of ${worker}`)])).rows
    const text = `select not isfinite(seen) as "isDrained" from vitamin.worker where id = $1 and not ${isAlive}`
    const gone = row?.mine ? (await client.query<{ isDrained: boolean }>(text, [worker])).rows[0] : undefined
    if (gone) {
      await takeOver(worker, gone)
      await client.query(`delete from vitamin.worker where id = $1 and not ${isAlive}`, [worker])
      await client.query("delete from vitamin.mail where worker = $1", [worker])
    }
    await client.query("commit")
  } finally {
    await connection.close()
  }
}
