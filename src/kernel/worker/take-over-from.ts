// Takes over the work of a worker that is gone. One worker at a time does it. The row of the worker is removed last, so
// that the work is found again if this process dies meanwhile.
import { type Database, exclusively, leaseLock } from "#kernel/database/database.ts"
import { isAlive } from "./heartbeat.ts"
import type { TakeOver } from "./worker.ts"

export function takeOverFrom(database: Database, worker: string, takeOver: TakeOver): Promise<void> {
  return exclusively(database, leaseLock(`of ${worker}`), async (client) => {
    const text = `select not isfinite(seen) as "isDrained" from vitamin.worker w where id = $1 and not ${isAlive}`
    const [gone] = (await client.query<{ isDrained: boolean }>(text, [worker])).rows
    if (!gone) return
    await takeOver(worker, gone)
    // If it is back meanwhile, it reads its messages itself.
    const end = `with gone as (delete from vitamin.worker w where id = $1 and not ${isAlive} returning id)
      delete from vitamin.mail where worker in (select id from gone)`
    await client.query(end, [worker])
  })
}
