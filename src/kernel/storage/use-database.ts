// Keeps the records of this process in a PostgreSQL database. Loaded only if one is named.
import { open } from "#kernel/database/database.ts"
import { createWorkers } from "#kernel/worker/create-workers.ts"
import * as Worker from "#kernel/worker/worker.ts"
import * as RecordFiles from "./record-files.ts"
import { createRecordTables } from "./record-tables.ts"
import { createSharedRecords } from "./shared-records.ts"
import * as Storage from "./storage.ts"

/** Opens the database first: if that fails, records stay where they are. Call it before the first record is touched.
 * `beforeTables` runs before the tables are created. */
export async function useDatabase(url: string, beforeTables?: () => Promise<unknown>): Promise<void> {
  const database = await open(url, beforeTables)
  const workers = createWorkers(database)
  const records = createSharedRecords(createRecordTables(database), RecordFiles)
  // Leases are released behind the last record, which depends on them.
  const close = async () => {
    await records.close()
    await workers.close()
  }
  Storage.use({ ...records, close }, database)
  Worker.use(workers)
}
