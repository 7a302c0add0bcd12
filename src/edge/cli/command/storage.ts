// `vitamin storage copy`: moves the records of this machine's files into a database, or back.
import { UsageError } from "#edge/cli/process/exit.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Env from "#kernel/process/env.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = { from: string; to: string; overwrite?: boolean | undefined }

export async function copyStorage({ from, to, overwrite = false }: Options): Promise<void> {
  const [source, target] = [placeOf(from), placeOf(to)]
  if (source === target) throw new UsageError("The source and the target are the same.")
  const { copyRecords, openRecords } = await import("#kernel/storage/copy-records.ts")
  const stores = [await openRecords(source), await openRecords(target)] as const
  try {
    const show = process.stderr.isTTY
    const copied = (records: number) => void (show && process.stderr.write(`\r${records} records`))
    const done = await copyRecords(...stores, { overwrite, copied })
    if (show) process.stderr.write("\r")
    const text = `${countOf(done.records, "record")} of the source are equal in the target; ${done.written} of them were written now.\n`
    process.stdout.write(text)
    if (done.quarantined)
      process.stderr.write(
        `${countOf(done.quarantined, "quarantined record")} of the source stay there (${ownCommand} doctor names them).\n`,
      )
  } finally {
    await Promise.all(stores.map((store) => store.close()))
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
