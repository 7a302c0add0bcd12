// `vitamin schedule …`: adds, lists, pauses and removes the schedules of a database. Servers run them.
import { realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { isAddress, Project } from "#ability/checkout/checkout.ts"
import * as Provider from "#ability/provider/provider.ts"
import { type RuleOptions, rulesOf } from "#edge/cli/option/options.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import {
  directoryOf,
  type FolderOptions,
  inInstance,
  type StoreOptions,
} from "#edge/cli/process/in-instance.ts"
import { localTime } from "#edge/cli/session/session-lines.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { Audit } from "#edge/server/people.ts"
import * as Schedule from "#engine/schedule/schedule.ts"
import { checkAnswerer } from "#engine/session/settings.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { ownCommand } from "#util/own-command.ts"
import { shorten } from "#util/plain-text.ts"

type Options = FolderOptions & StoreOptions
type Named = Options & { id: string }
type Added = Options &
  RuleOptions & {
    cron: string
    prompt: string
    timezone: string
    directory?: string | undefined
    agent?: string | undefined
    model?: string | undefined
    mode?: "plan" | "act" | undefined
    maxSteps?: number | undefined
    maxCost?: number | undefined
    /** In seconds. */
    timeout?: number | undefined
  }

const maxPrompt = 60

export async function addSchedule(options: Added): Promise<void> {
  await rulesOf(options)
  const { directory = directoryOf(options) } = options
  const isProject = isAddress(directory)
  const folder = isProject ? directory : folderOf(resolve(directoryOf(options), directory))
  await withSchedules({ ...options, ...(isProject ? {} : { dir: folder }) }, async (schedules) => {
    const place = isProject ? (await Project.get(folder)).address : folder
    if (!isProject) await checkAnswerer(options).catch(unlessKeyIsMissing)
    const { id, next } = await schedules.add(settingsOf(options), place)
    await Audit.append({ action: "schedule add", target: id, result: "ok" })
    print(id)
    process.stderr.write(`Added. It runs next at ${localTime(next!)}, in ${place}.\n`)
  })
}

export async function listSchedules(options: Options & { format: "text" | "json" }): Promise<void> {
  await withSchedules(options, async (schedules) => {
    const all = await schedules.list()
    if (options.format === "json") return print(JSON.stringify(all, null, 2))
    if (!all.length)
      process.stderr.write(`There is no schedule yet: ${ownCommand} schedule add "0 7 * * 1" "…"\n`)
    for (const one of all) for (const line of linesOf(one)) print(safeText(line))
  })
}

export async function pauseSchedule(options: Named): Promise<void> {
  await withSchedules(options, async (schedules) => {
    const { id } = await schedules.setPaused(options.id, true)
    await Audit.append({ action: "schedule pause", target: id, result: "ok" })
    print(`Paused ${id}.`)
  })
}

export async function resumeSchedule(options: Named): Promise<void> {
  await withSchedules(options, async (schedules) => {
    const { id, next } = await schedules.setPaused(options.id, false)
    await Audit.append({ action: "schedule resume", target: id, result: "ok" })
    print(`${id} runs next at ${next === undefined ? "an unknown time" : localTime(next)}.`)
  })
}

export async function removeSchedule(options: Named): Promise<void> {
  await withSchedules(options, async (schedules) => {
    await schedules.remove(options.id)
    await Audit.append({ action: "schedule remove", target: options.id, result: "ok" })
    print(`Removed ${options.id}. Its sessions stay.`)
  })
}

/** The servers may have the key. */
function unlessKeyIsMissing(error: unknown): void {
  if (!(error instanceof Provider.MissingKey)) throw error
}

async function withSchedules(
  options: Options,
  work: (schedules: Schedule.Schedules) => Promise<void>,
): Promise<void> {
  await inInstance(options, async () => {
    const database = Storage.sharedDatabase()
    if (!database) throw new Schedule.NoDatabase()
    const { openScheduleRows } = await import("#edge/cluster/schedule-rows.ts")
    const { limitSchedules } = await import("#edge/cluster/limit-schedules.ts")
    await using rows = await openScheduleRows(database)
    await work(Schedule.createSchedules(limitSchedules(database, rows)))
  })
}

function folderOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path)
  throw new UsageError(`--directory: the folder ${path} does not exist. All workers need it under this path.`)
}

function settingsOf(options: Added): Schedule.Settings {
  const { cron, prompt, timezone, agent, model, mode, allow, deny, maxSteps, maxCost, timeout } = options
  const milliseconds = timeout === undefined ? undefined : timeout * 1000
  return { cron, prompt, timezone, agent, model, mode, allow, deny, maxSteps, maxCost, timeout: milliseconds }
}

function linesOf(one: Schedule.Info): string[] {
  const { id, cron, timezone, paused, next, last, skipped, person = "owner", directory, prompt } = one
  const when = paused ? "paused" : next === undefined ? "never" : `next ${localTime(next)}`
  const ended = last ? `last ${localTime(last.time)} ${last.result}` : "has not run"
  const words = shorten(prompt.trim().split("\n", 1)[0]!, maxPrompt)
  return [
    `${id}  ${cron} (${timezone})  ${when}  ${person}  ${directory}  ${words}`,
    `    ${[ended, last?.sessionId, last?.error?.message].filter(Boolean).join("  ")}`,
    ...(skipped === undefined ? [] : [`    skipped ${localTime(skipped)}: the run before was not over`]),
  ]
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
