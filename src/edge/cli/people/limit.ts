// `vitamin limit …`: how many prompts run and wait on the servers of a database, and how many schedules there may be.
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance, type StoreOptions } from "#edge/cli/process/in-instance.ts"
import * as Limits from "#edge/cluster/limits.ts"
import { Audit } from "#edge/server/people.ts"
import * as Storage from "#kernel/storage/storage.ts"

type Options = FolderOptions & StoreOptions
type Named = Options & { name: string }

export async function listLimits(options: Options & { format: "text" | "json" }): Promise<void> {
  await onDatabase(options, async () => {
    const limits = await Limits.get()
    if (options.format === "json") return print(JSON.stringify(limits, null, 2))
    for (const name of Limits.names) print(`${name.padEnd(16)} ${shown(limits[name])}`)
  })
}

export async function setLimit(options: Named & { number: string }): Promise<void> {
  const name = nameOf(options)
  const lowest = name.startsWith("running") ? 1 : 0
  const value = Number(options.number)
  if (!/^\d{1,9}$/.test(options.number) || value < lowest)
    throw new UsageError(
      `${JSON.stringify(options.number)} cannot be ${name}: name a number from ${lowest} on.`,
    )
  await onDatabase(options, async () => {
    await Limits.set(name, value)
    await Audit.append({ action: "limit set", target: `${name} ${value}`, result: "ok" })
    print(`${name} is ${value} now.`)
  })
}

export async function removeLimit(options: Named): Promise<void> {
  const name = nameOf(options)
  await onDatabase(options, async () => {
    await Limits.set(name, undefined)
    await Audit.append({ action: "limit remove", target: name, result: "ok" })
    print(`${name} is ${shown((await Limits.get())[name])} now.`)
  })
}

/** Servers without a database run each prompt where it came in, and ask for no limits. */
async function onDatabase(options: Options, work: () => Promise<void>): Promise<void> {
  await inInstance(options, async () => {
    if (!Storage.sharedDatabase())
      throw new UsageError("Limits are for servers of a database: set VITAMIN_DATABASE, or use --database.")
    await work()
  })
}

function nameOf({ name }: Named): Limits.Name {
  const found = Limits.names.find((one) => one === name)
  if (!found)
    throw new UsageError(`There is no limit ${JSON.stringify(name)}. Possible: ${Limits.names.join(", ")}`)
  return found
}

function shown(limit: number): string {
  return Number.isFinite(limit) ? String(limit) : "no limit"
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
