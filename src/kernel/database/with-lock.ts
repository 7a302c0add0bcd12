// Work that one process of the fleet does at a time, such as creating tables that are not ours.
import { setTimeout as sleep } from "node:timers/promises"
import type { Client, Connection } from "./connection.ts"

const askEvery = 50
const touchEvery = 1_000
/** PostgreSQL 13 does not have the setting. */
const loseWhenSilent = `select set_config(name, '4s', false) from pg_settings where name = 'idle_session_timeout'`

/** `lock` is freed with the connection: at once if the process dies, and after a few seconds if it is paused or cut off. No
 * transaction is open meanwhile, and the lock is asked for again and again instead of waited for: CREATE INDEX CONCURRENTLY,
 * which may be part of the work, waits for all transactions that have a snapshot. */
export async function withLock<T>(connection: Connection, lock: string, work: () => Promise<T>): Promise<T> {
  let touching: NodeJS.Timeout | undefined
  try {
    const client = await connection.client()
    while (!(await tryLock(client, lock))) await sleep(askEvery)
    await client.query(loseWhenSilent)
    touching = setInterval(() => client.query("select").catch(() => {}), touchEvery).unref()
    return await work()
  } finally {
    clearInterval(touching)
    await connection.close()
  }
}

async function tryLock(client: Client, lock: string): Promise<boolean> {
  const text = "select pg_try_advisory_lock($1) as mine"
  return (await client.query<{ mine: boolean }>(text, [lock])).rows[0]!.mine
}
