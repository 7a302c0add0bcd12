// `vitamin audit`: what people did, from the audit log.
import { parseDay } from "#edge/cli/option/parse-day.ts"
import { type FolderOptions, inInstance, type StoreOptions } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { Audit } from "#edge/server/people.ts"

type Options = FolderOptions &
  StoreOptions & {
    person?: string | undefined
    since?: string | undefined
    until?: string | undefined
    limit: number
    format: "text" | "json"
  }

export async function showAudit(options: Options): Promise<void> {
  const { person, limit } = options
  const since = options.since === undefined ? undefined : parseDay("--since", options.since)
  const until = options.until === undefined ? undefined : endOf(parseDay("--until", options.until))
  await inInstance(options, async () => {
    const entries = await Audit.list({ person, since, until, limit })
    if (options.format === "json") return print(JSON.stringify(entries, null, 2))
    if (!entries.length) process.stderr.write("Nothing is in the audit log.\n")
    for (const { time, person, action, target, result } of entries)
      print(safeText(`${new Date(time).toISOString()}  ${person}  ${action}  ${target}  ${result}`))
  })
}

/** Days may have 23 or 25 hours. */
function endOf(midnight: number): number {
  const next = new Date(midnight)
  next.setDate(next.getDate() + 1)
  return next.getTime() - 1
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
