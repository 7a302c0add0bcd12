// Schedules: prompts that run again and again, at the times of a cron expression. The engine of the jobs keeps each as a row
// and fires it; this is what people do with them, and what they may see. A member has their own, an admin sees all.
import { z } from "zod"
import * as Permission from "#ability/permission/permission.ts"
import * as Person from "#kernel/person.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { ownCommand } from "#util/own-command.ts"
import { checkTimezone, nextTime, parseCron } from "./cron.ts"
import * as LastRun from "./last-run.ts"

const mostCharacters = 100_000
const Rules = z.array(z.string().max(2_000)).max(500).optional()

/** What a person says about a schedule. */
export const Settings = z.object({
  cron: about("Minute, hour, day of the month, month, weekday.", z.string().max(1_000)),
  timezone: about("Time zone of the cron expression; default: UTC.", z.string().max(100).optional()),
  prompt: about("What each run is asked to do.", z.string().max(mostCharacters)),
  agent: about("Agent that runs it.", z.string().optional()),
  model: about("Model, as provider/model.", z.string().optional()),
  mode: about("plan: read only; act: may change files.", z.enum(["plan", "act"]).optional()),
  allow: about("Rules of each run, such as `bash.execute:npm test`.", Rules),
  deny: about("As `allow`, and stronger.", Rules),
  maxSteps: about("A run stops after so many turns of the model.", z.number().int().positive().optional()),
  maxCost: about("A run stops when it has spent so many US dollars.", z.number().positive().optional()),
  timeout: about("A run stops after so many milliseconds.", z.number().positive().optional()),
})
export type Settings = z.infer<typeof Settings>

/** What the engine keeps beside the times. */
const Task = Settings.omit({ cron: true, timezone: true }).extend({
  directory: about("Folder of the runs, or address of a project.", z.string()),
  person: about("Person who added it; missing: the owner of the server.", z.string().optional()),
  created: about("When it was added, in milliseconds since 1970.", z.number()),
})

export const Row = Task.extend({
  id: about("The schedule.", z.string()),
  cron: Settings.shape.cron,
  timezone: about("Time zone of the cron expression.", z.string()),
  paused: about("Whether it does not run at the moment.", z.boolean()),
})
export type Row = z.infer<typeof Row>

export const Info = Row.extend({
  next: about(
    "When it runs next, in milliseconds since 1970; missing if it is paused.",
    z.number().optional(),
  ),
  last: about("Its last run.", LastRun.Info.optional()),
  skipped: about(
    "When it last did not run because the run before was not over, in milliseconds since 1970.",
    z.number().optional(),
  ),
})
export type Info = z.infer<typeof Info>

/** Where the engine keeps the schedules. */
export type Rows = Readonly<{
  add(row: Row): Promise<void>
  list(): Promise<Row[]>
  find(id: string): Promise<Row | undefined>
  setPaused(id: string, paused: boolean): Promise<void>
  remove(id: string): Promise<void>
  /** The states of these jobs; `open` if it waits or runs. One that is unknown is missing. */
  statesOf(ids: string[]): Promise<LastRun.States>
}>

export type Schedules = Readonly<{
  /** On behalf of the current person. `directory`: a folder, or the address of a project. */
  add(settings: Settings, directory: string): Promise<Info>
  list(): Promise<Info[]>
  setPaused(id: string, paused: boolean): Promise<Info>
  remove(id: string): Promise<void>
}>

class NotFound extends NamedError {
  constructor(id: string) {
    super("Schedule.NotFound", `There is no schedule ${JSON.stringify(id.slice(0, 200))}.`, { id })
  }
}

export class NoDatabase extends NamedError {
  constructor() {
    super(
      "Schedule.NoDatabase",
      `Schedules need servers on a database: ${ownCommand} serve --database postgres://…, or VITAMIN_DATABASE (docs/cluster.md).`,
    )
  }
}

/** The first server creates the tables of the engine. */
export class NoServer extends NamedError {
  constructor() {
    const text = `No server has run on this database yet, and servers run the schedules: ${ownCommand} serve --database postgres://…`
    super("Schedule.NoServer", text)
  }
}

class InvalidPrompt extends NamedError {
  constructor() {
    super("Schedule.InvalidPrompt", "The prompt of a schedule is empty. Say what each run should do.")
  }
}

export function createSchedules(rows: Rows): Schedules {
  async function get(id: string): Promise<Row> {
    const row = await rows.find(id)
    if (!row || !isVisible(row)) throw new NotFound(id)
    return row
  }

  return Object.freeze<Schedules>({
    async add({ timezone = "UTC", ...settings }, directory) {
      check({ ...settings, timezone })
      const id = createId("sch")
      const person = Person.current()?.name
      const created = Date.now()
      const row = Row.parse({ ...settings, timezone, directory, person, created, id, paused: false })
      await rows.add(row)
      return infoOf(row, {}, new Map())
    },
    async list() {
      const visible = (await rows.list()).filter(isVisible)
      const kept = await LastRun.readAll()
      const states = await rows.statesOf(visible.flatMap(({ id }) => LastRun.jobsOf(kept.get(id))))
      return visible.map((row) => infoOf(row, kept.get(row.id) ?? {}, states))
    },
    async setPaused(id, paused) {
      const row = await get(id)
      await rows.setPaused(id, paused)
      const kept = await LastRun.read(id)
      return infoOf({ ...row, paused }, kept, await rows.statesOf(LastRun.jobsOf(kept)))
    },
    async remove(id) {
      await get(id)
      await rows.remove(id)
      await LastRun.remove(id)
    },
  })
}

/** The rules of a schedule. Deny rules come last, so they win. Throws `InvalidRule`. */
export function rulesOf({ allow = [], deny = [] }: Pick<Settings, "allow" | "deny">): Permission.Rule[] {
  const parse = (action: "allow" | "deny") => (text: string) => Permission.parseRule(text, action)
  return [...allow.map(parse("allow")), ...deny.map(parse("deny"))]
}

function check(settings: Settings & { timezone: string }): void {
  parseCron(settings.cron)
  checkTimezone(settings.timezone)
  if (!settings.prompt.trim()) throw new InvalidPrompt()
  rulesOf(settings)
}

function isVisible({ person }: Row): boolean {
  const limited = Person.limited()
  return !limited || limited.name === person
}

function infoOf(row: Row, kept: LastRun.Kept, states: LastRun.States): Info {
  const { last, skipped } = kept
  return {
    ...row,
    next: row.paused ? undefined : nextOf(row),
    last: last && LastRun.infoOf(last, states),
    skipped,
  }
}

/** Somebody may have changed the row by hand. */
function nextOf({ cron, timezone }: Row): number | undefined {
  try {
    return nextTime(parseCron(cron), timezone, Date.now())
  } catch {
    return undefined
  }
}
