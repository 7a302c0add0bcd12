// `vitamin storage copy`: moves the records and objects of this machine's files into a database, or back.
import { UsageError } from "#edge/cli/process/exit.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Env from "#kernel/process/env.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = { from: string; to: string; overwrite?: boolean | undefined }

const stays =
  "Not copied: the event log (clients read their sessions again) and what belongs to a machine, such as reviews of files and logins.\n"

export async function copyStorage({ from, to, overwrite = false }: Options): Promise<void> {
  const [source, target] = [placeOf(from), placeOf(to)]
  if (source === target) throw new UsageError("The source and the target are the same.")
  const copying = await import("#kernel/storage/copy-records.ts")
  const { copyObjects, refuseOtherObjects } = await import("#kernel/objects/copy-objects.ts")
  await using one = await openStore(source)
  await using two = await openStore(target)
  const owners = () => copying.sessionsIn(one.records)
  if (!overwrite) {
    await copying.refuseOtherRecords(one.records, two.records)
    await refuseOtherObjects(one.objects, two.objects, owners())
  }
  const show = (what: string) => (count: number) =>
    void (process.stderr.isTTY && process.stderr.write(`\r${count} ${what}`))
  // The objects first: a session that is in the target has its bytes there.
  const objects = await copyObjects(one.objects, two.objects, owners(), show("objects"))
  const records = await copying.copyRecords(one.records, two.records, show("records"))
  if (process.stderr.isTTY) process.stderr.write("\r")
  process.stdout.write(
    `${countOf(records.records, "record")} of the source are equal in the target; ${records.written} of them were written now.\n` +
      `${countOf(objects.objects, "object")} (snapshots, long outputs, images) have the same hash there; ${objects.written} of them were written now.\n`,
  )
  if (objects.lost)
    process.stderr.write(
      `Not copied: ${countOf(objects.lost, "object")} that the source has no longer, or damaged. Files keep what an undo needs for 30 days.\n`,
    )
  if (records.quarantined)
    process.stderr.write(
      `${countOf(records.quarantined, "quarantined record")} of the source stay there: repair them (${ownCommand} doctor names them) and copy again.\n`,
    )
  process.stderr.write(stays)
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
