// `vitamin secret …`: the secrets that commands of a project get as variables. A value is piped in, or typed without being
// shown; none is ever printed.
import { Project } from "#ability/checkout/checkout.ts"
import * as ProjectSecrets from "#ability/shell/project-secrets.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { readHidden } from "#edge/cli/process/read-hidden.ts"
import { readStdin } from "#edge/cli/process/read-stdin.ts"
import { localTime } from "#edge/cli/session/session-lines.ts"
import { Audit } from "#edge/server/people.ts"
import { Instance } from "#kernel/instance.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions & { project?: string | undefined }
type Named = Options & { name: string }

export async function setSecret(options: Named): Promise<void> {
  const { name } = options
  await inInstance(options, async () => {
    const projectId = await idOf(options)
    const piped = (await readStdin())?.replace(/\r?\n$/, "")
    if (!piped && !process.stdin.isTTY)
      throw new UsageError(`Pipe the value in: pass show x | ${ownCommand} secret set ${name}`)
    const value = piped || (await readHidden(`Value of ${name} (not shown): `))
    await ProjectSecrets.set(projectId, { name, value })
    await Audit.append({ action: "secret set", target: name, result: "ok" })
    print(`Stored the secret ${name}.`)
  })
}

export async function listSecrets(options: Options): Promise<void> {
  await inInstance(options, async () => {
    const secrets = await ProjectSecrets.list(await idOf(options))
    if (!secrets.length) process.stderr.write(`The project has no secrets: ${ownCommand} secret set NAME\n`)
    for (const { name, updated } of secrets) print(`${name.padEnd(24)} ${localTime(updated)}`)
  })
}

export async function removeSecret(options: Named): Promise<void> {
  await inInstance(options, async () => {
    await ProjectSecrets.remove(await idOf(options), options.name)
    await Audit.append({ action: "secret remove", target: options.name, result: "ok" })
    print(`Removed the secret ${options.name}.`)
  })
}

async function idOf({ project }: Options): Promise<string> {
  return project === undefined ? Instance.project.id : (await Project.get(project)).id
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
