// `vitamin vault …`: the person's own access to the vault. A value is piped in, or typed without being shown; none is ever
// printed.
import { Name } from "#ability/vault/secret-tools.ts"
import * as Vault from "#ability/vault/vault.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { readHidden } from "#edge/cli/process/read-hidden.ts"
import { readStdin } from "#edge/cli/process/read-stdin.ts"
import { ownCommand } from "#util/own-command.ts"

export async function listVault(options: FolderOptions): Promise<void> {
  await inInstance(options, async () => {
    const entries = await Vault.list(atTerminal())
    if (!entries.length) process.stderr.write(`The vault is empty: ${ownCommand} vault set NAME\n`)
    for (const { name, kind, updated } of entries)
      process.stdout.write(`${name.padEnd(24)} ${kind.padEnd(8)} ${new Date(updated).toISOString()}\n`)
  })
}

export async function setSecret(options: FolderOptions & { name: string }): Promise<void> {
  const name = nameOf(options)
  await inInstance(options, async () => {
    const piped = await readStdin()
    if (!piped && !process.stdin.isTTY)
      throw new UsageError(`Pipe the value in: pass show x | ${ownCommand} vault set ${name}`)
    const value = piped || (await readHidden(`Value of ${name} (not shown): `))
    const { replaced } = await Vault.set({ name, value, replace: true }, atTerminal())
    process.stdout.write(`${replaced ? "Replaced" : "Stored"} the secret ${name}.\n`)
  })
}

export async function removeSecret(options: FolderOptions & { name: string }): Promise<void> {
  const name = nameOf(options)
  await inInstance(options, async () => {
    await Vault.remove(name, atTerminal())
    process.stdout.write(`Removed ${name}.\n`)
  })
}

function nameOf({ name }: { name: string }): string {
  const { error } = Name.safeParse(name)
  if (!error) return name
  throw new UsageError(`${JSON.stringify(name)} is no name of a secret: ${error.issues[0]!.message}`)
}

function atTerminal(): Vault.Person | undefined {
  if (!process.stdin.isTTY) return undefined
  return async ({ message, fields }) => {
    process.stderr.write(`${message}\n`)
    const typed: Record<string, string> = {}
    for (const [field, title] of Object.entries(fields)) typed[field] = await readHidden(`${title}: `)
    return typed
  }
}
