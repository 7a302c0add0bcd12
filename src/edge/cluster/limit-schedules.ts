// How many schedules there may be, of one person and in the fleet: every worker reads all of them every two seconds.
import type * as Schedule from "#engine/schedule/schedule.ts"
import { type Database, jobLock, withLock } from "#kernel/database/database.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import * as Limits from "./limits.ts"

type Scope = { name: Limits.Name; who: string; count: number }

class TooManySchedules extends NamedError {
  constructor({ name, who, count }: Scope, limit: number) {
    const has = `${who} has ${count || "no"} schedule${count === 1 ? "" : "s"}`
    const advice = `${count ? "Remove one, or raise" : "Raise"} the limit: ${ownCommand} limit set ${name} NUMBER`
    super(
      "Schedule.Limit",
      `The schedule was not added: ${has}, and the limit ${name} is ${limit}. ${advice}`,
      {
        name,
        limit,
        schedules: count,
      },
    )
  }
}

/** One process of the fleet at a time adds a schedule, so that the limits hold. */
export function limitSchedules(database: Database, rows: Schedule.Rows): Schedule.Rows {
  async function add(row: Schedule.Row): Promise<void> {
    const [all, limits] = await Promise.all([rows.list(), Limits.get()])
    const own = all.filter(({ person }) => person === row.person)
    const scopes: Scope[] = [
      { name: "schedules.person", who: row.person ?? "the owner", count: own.length },
      { name: "schedules.fleet", who: "the fleet", count: all.length },
    ]
    const full = scopes.find(({ name, count }) => count >= limits[name])
    if (full) throw new TooManySchedules(full, limits[full.name])
    await rows.add(row)
  }

  return { ...rows, add: (row) => withLock(database.connect(), jobLock("schedules"), () => add(row)) }
}
