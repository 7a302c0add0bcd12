// `vitamin storage copy`: copies the records, objects and schedules of one store to another: this machine's files, or a
// database.
import { UsageError } from "#edge/cli/process/exit.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import type * as Schedule from "#engine/schedule/schedule.ts"
import type { Database } from "#kernel/database/database.ts"
import * as Env from "#kernel/process/env.ts"
import { isAlive } from "#kernel/worker/heartbeat.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { shorten } from "#util/plain-text.ts"

type Options = { from: string; to: string; overwrite?: boolean | undefined }

const stays =
  "Not copied: the event log (clients read their sessions again) and what belongs to a machine, such as reviews of files and logins."
const maxPrompt = 60

/** A server, or a command that works on a session, would change the records meanwhile. */
class InUse extends NamedError {
  constructor(shown: string, workers: string[]) {
    const who = workers.length === 1 ? `the worker ${workers[0]}` : `the workers ${workers.join(", ")}`
    super(
      "Storage.InUse",
      `The database ${shown} is in use by ${who}. Stop what runs there (SIGTERM), and copy again; a worker that was killed counts for three more seconds.`,
      { workers },
    )
  }
}

export async function copyStorage({ from, to, overwrite = false }: Options): Promise<void> {
  const [source, target] = [placeOf(from), placeOf(to)]
  if (source === target) throw new UsageError("The source and the target are the same.")
  const copying = await import("#kernel/storage/copy-records.ts")
  const { copyObjects, refuseOtherObjects } = await import("#kernel/objects/copy-objects.ts")
  const { jobsAsPrompts } = await import("#engine/queue/jobs-as-prompts.ts")
  const { copySchedules, listSchedules, refuseOtherSchedules } = await import(
    "#edge/cluster/copy-schedules.ts"
  )
  await using one = await openStore(source)
  await using two = await openStore(target)
  for (const { database } of [one, two]) if (database) await refuseWorkers(database)
  const jobs = await jobsAsPrompts(one.records)
  const schedules = one.database ? await listSchedules(one.database) : []
  const owners = () => copying.sessionsIn(jobs.records)
  if (!overwrite) {
    await copying.refuseOtherRecords(jobs.records, two.records)
    await refuseOtherObjects(one.objects, two.objects, owners())
    if (one.database && two.database) await refuseOtherSchedules(schedules, two.database)
  }
  const show = (what: string) => (count: number) =>
    void (process.stderr.isTTY && process.stderr.write(`\r${count} ${what}`))
  // The objects first: a session that is in the target has its bytes there.
  const objects = await copyObjects(one.objects, two.objects, owners(), show("objects"))
  const records = await copying.copyRecords(jobs.records, two.records, show("records"))
  const written = two.database ? await copySchedules(schedules, two.database) : 0
  if (process.stderr.isTTY) process.stderr.write("\r")
  print(process.stdout, [
    `${countOf(records.records, "record")} of the source are equal in the target; ${records.written} of them were written now.`,
    `${countOf(objects.objects, "object")} (snapshots, long outputs, images) have the same hash there; ${objects.written} of them were written now.`,
    two.database &&
      schedules.length &&
      `${countOf(schedules.length, "schedule")} of the source are equal in the target; ${written} of them were written now.`,
  ])
  print(process.stderr, [
    objects.lost &&
      `Not copied: ${countOf(objects.lost, "object")} that the source has no longer, or damaged. Files keep what an undo needs for 30 days.`,
    records.quarantined &&
      `${countOf(records.quarantined, "quarantined record")} of the source stay there: repair them (${ownCommand} doctor names them) and copy again.`,
    jobs.sessions.length && skippedText(jobs.sessions),
    !two.database && schedules.length && leftText(schedules),
    stays,
  ])
}

function print(stream: NodeJS.WriteStream, lines: unknown[]): void {
  stream.write(`${lines.filter(Boolean).join("\n")}\n`)
}

async function refuseWorkers(database: Database): Promise<void> {
  const text = `select id from vitamin.worker w where ${isAlive} order by id`
  const workers = await database.read<{ id: string }>({ text })
  if (workers.length)
    throw new InUse(
      database.shown,
      workers.map(({ id }) => id),
    )
}

function skippedText(sessions: readonly string[]): string {
  const names = [...new Set(sessions)].join(", ")
  return `${countOf(sessions.length, "prompt")} of the queue will not run in the target, and will be listed as skipped there. Send again what you need, in ${names}.`
}

function leftText(schedules: readonly Schedule.Row[]): string {
  const names = schedules.map(
    ({ id, cron, prompt }) => `  ${id}  ${cron}  ${shorten(prompt.trim().split("\n", 1)[0]!, maxPrompt)}`,
  )
  const count = countOf(schedules.length, "schedule")
  return safeText([`Not copied: ${count}, which only servers on a database can run:`, ...names].join("\n"))
}

async function openStore(place: string) {
  const { openRecords } = await import("#kernel/storage/copy-records.ts")
  const { records, database } = await openRecords(place)
  const shared = database && (await (await import("#kernel/objects/objects.ts")).create(database))
  const objects = shared
    ? (await import("#kernel/objects/copy-objects.ts")).placeOf(shared)
    : (await import("#ability/call/machine-objects.ts")).createMachineObjects()
  return {
    records,
    database,
    objects,
    async [Symbol.asyncDispose]() {
      await shared?.close()
      await records.close()
    },
  }
}

/** `database` is that of VITAMIN_DATABASE, whose password is not in the list of processes. */
function placeOf(word: string): string {
  if (word === "files" || /^postgres(ql)?:/.test(word)) return word
  if (word !== "database") throw new UsageError(`"${word}" is no store: files, database or postgres://…`)
  const address = Env.get("VITAMIN_DATABASE")
  if (!address) throw new UsageError('"database" means the address in VITAMIN_DATABASE, which is not set.')
  return address
}
