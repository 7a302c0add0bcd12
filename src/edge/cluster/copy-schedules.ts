// Copies the schedules of a database, which are rows of the engine of the jobs, into another one. Like a copy of records, it
// is continued by running it again.
import * as Schedule from "#engine/schedule/schedule.ts"
import type { Database } from "#kernel/database/database.ts"
import { NamedError } from "#util/error.ts"
import { createTables, openScheduleRows } from "./schedule-rows.ts"

class Differs extends NamedError {
  constructor(id: string, how: string) {
    super(
      "Schedule.Differs",
      `Schedule ${id} is in the target, and ${how}. To copy all the same, say --overwrite: schedules of the source replace it, others stay`,
      { id },
    )
  }
}

/** None if no server has run on the database yet. */
export async function listSchedules(database: Database): Promise<Schedule.Row[]> {
  try {
    await using rows = await openScheduleRows(database)
    return await rows.list()
  } catch (error) {
    if (error instanceof Schedule.NoServer) return []
    throw error
  }
}

/** Refuses a target that has another schedule, or the same one with other settings. */
export async function refuseOtherSchedules(
  schedules: readonly Schedule.Row[],
  target: Database,
): Promise<void> {
  const texts = textsOf(schedules)
  for (const [id, text] of textsOf(await listSchedules(target)))
    if (texts.get(id) !== text)
      throw new Differs(id, texts.has(id) ? "differs from the source" : "not in the source")
}

/** Returns how many were written now. No server may run on the target: it would fire a paused one. */
export async function copySchedules(schedules: readonly Schedule.Row[], target: Database): Promise<number> {
  if (!schedules.length) return 0
  await createTables(target)
  await using rows = await openScheduleRows(target)
  const before = textsOf(await rows.list())
  const changed = schedules.filter((row) => before.get(row.id) !== JSON.stringify(row))
  for (const row of changed) {
    if (before.has(row.id)) await rows.remove(row.id)
    await rows.add(row)
    if (row.paused) await rows.setPaused(row.id, true)
  }
  return changed.length
}

function textsOf(schedules: readonly Schedule.Row[]): Map<string, string> {
  return new Map(schedules.map((row) => [row.id, JSON.stringify(row)]))
}
