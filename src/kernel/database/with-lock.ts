// Work that one process of the fleet does at a time, such as creating tables that are not ours.
import { setTimeout as sleep } from "node:timers/promises"
import type { Client, Connection } from "./connection.ts"

const askEvery = 50

/** `lock` is freed with the connection, so also if the process dies. It is asked for again and again: a statement that
 * waits for a lock has a snapshot, and CREATE INDEX CONCURRENTLY, which may be part of the work, waits for all of them. */
export async function withLock<T>(connection: Connection, lock: string, work: () => Promise<T>): Promise<T> {
  try {
    const client = await connection.client()
    while (!(await tryLock(client, lock))) await sleep(askEvery)
    return await work()
  } finally {
    await connection.close()
  }
}

async function tryLock(client: Client, lock: string): Promise<boolean> {
  const text = "select pg_try_advisory_lock($1) as mine"
  return (await client.query<{ mine: boolean }>(text, [lock])).rows[0]!.mine
}
