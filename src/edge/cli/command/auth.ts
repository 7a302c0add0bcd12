// `vitamin auth …`: API keys, in a file that only the person can read.
import * as Provider from "#ability/provider/provider.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { readHidden } from "#edge/cli/process/read-hidden.ts"
import { readStdin } from "#edge/cli/process/read-stdin.ts"
import { ownCommand } from "#util/own-command.ts"

export async function login(options: FolderOptions & { provider: string }): Promise<void> {
  await inInstance(options, async () => {
    // Refuse an unknown provider before asking for its key.
    await Provider.auth(options.provider)
    await Provider.login(options.provider, await readKey(options.provider))
    process.stdout.write(`Stored the key for ${options.provider}.\n`)
  })
}

export async function logout(options: FolderOptions & { provider: string }): Promise<void> {
  await inInstance(options, async () => {
    const was = await Provider.logout(options.provider)
    process.stdout.write(
      was ? `Removed the key for ${options.provider}.\n` : `There was no key for ${options.provider}.\n`,
    )
  })
}

export async function listLogins(options: FolderOptions): Promise<void> {
  await inInstance(options, async () => {
    const lines: string[] = []
    for (const { id } of Provider.list()) {
      const { source } = await Provider.auth(id)
      if (source !== "none") lines.push(`${id.padEnd(24)} ${source}\n`)
    }
    if (!lines.length) process.stderr.write(`No provider has a key yet: ${ownCommand} auth login PROVIDER\n`)
    process.stdout.write(lines.join(""))
  })
}

async function readKey(provider: string): Promise<string> {
  const piped = await readStdin()
  if (piped) return piped
  if (!process.stdin.isTTY)
    throw new UsageError(`Pipe the key in: echo $KEY | ${ownCommand} auth login ${provider}`)
  return (await readHidden(`Key for ${provider}: `)).trim()
}
