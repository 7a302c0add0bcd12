// `vitamin token …`: creates, lists and revokes personal tokens. The token itself goes to stdout, everything else to stderr.
import { parseDay } from "#edge/cli/option/parse-day.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance, type StoreOptions } from "#edge/cli/process/in-instance.ts"
import { localTime } from "#edge/cli/session/session-lines.ts"
import { Audit, PersonalToken } from "#edge/server/people.ts"
import type { Role } from "#kernel/person.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { ownCommand } from "#util/own-command.ts"

type Named = FolderOptions & StoreOptions & { name: string }

const hour = 3_600_000
const longest = 10_000

export async function addToken(options: Named & { role: Role; expires?: string | undefined }): Promise<void> {
  const { name, role } = options
  const { error } = PersonalToken.Name.safeParse(name)
  if (error) throw new UsageError(`${JSON.stringify(name)} cannot be a name: ${error.issues[0]!.message}.`)
  const endAt = (now: number) => (options.expires === undefined ? undefined : timeOf(options.expires, now))
  endAt(0)
  await inInstance(options, async () => {
    const expires = endAt(Storage.now())
    const { token } = await PersonalToken.create({ name, role, expires })
    await Audit.append({ action: "token add", target: name, result: "ok" })
    process.stderr.write(`The token of ${name} (${role}). It is shown only now, and stored nowhere:\n`)
    process.stdout.write(`${token}\n`)
  })
}

export async function listTokens(
  options: FolderOptions & StoreOptions & { format: "text" | "json" },
): Promise<void> {
  await inInstance(options, async () => {
    const people = await PersonalToken.list()
    if (options.format === "json") return print(JSON.stringify(people, null, 2))
    if (!people.length)
      process.stderr.write(`Nobody has a token: ${ownCommand} token add NAME --role member\n`)
    for (const { name, role, created, expires } of people)
      print(`${name.padEnd(24)} ${role.padEnd(6)}  since ${localTime(created)}${endOf(expires)}`)
  })
}

export async function removeToken(options: Named): Promise<void> {
  await inInstance(options, async () => {
    await PersonalToken.remove(options.name)
    await Audit.append({ action: "token remove", target: options.name, result: "ok" })
    print(`Revoked the token of ${options.name}. What it had open ends within a second.`)
  })
}

function endOf(expires: number | undefined): string {
  if (expires === undefined) return ""
  return expires > Storage.now() ? `, until ${localTime(expires)}` : `, expired ${localTime(expires)}`
}

function timeOf(text: string, now: number): number {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? []
  if (count === undefined) return parseDay("--expires", text)
  const hours = Number(count) * (unit === "d" ? 24 : 1)
  if (hours > 0 && hours <= longest * 24) return now + hours * hour
  throw new UsageError(`--expires takes 1h to ${longest}d, or a day as 2026-01-31.`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
