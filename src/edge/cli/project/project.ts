// `vitamin project …`: adds, lists and removes projects that are git repositories.
import { Project } from "#ability/checkout/checkout.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { Audit } from "#edge/server/people.ts"
import { ownCommand } from "#util/own-command.ts"

type Named = FolderOptions & { address: string }

export async function addProject(options: Named & { trusted: boolean }): Promise<void> {
  await inInstance(options, async () => {
    const { address, trusted } = await Project.add(options.address, options)
    await Audit.append({ action: "project add", target: address, result: "ok" })
    print(`Added ${address}, ${trusted ? "with" : "without"} trust in its files.`)
  })
}

export async function listProjects(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  await inInstance(options, async () => {
    const projects = await Project.list()
    if (options.format === "json") return print(JSON.stringify(projects, null, 2))
    if (!projects.length) process.stderr.write(`There is no project yet: ${ownCommand} project add ADDRESS\n`)
    for (const { address, trusted } of projects) print(`${trusted ? "trusted  " : "untrusted"}  ${address}`)
  })
}

export async function removeProject(options: Named): Promise<void> {
  await inInstance(options, async () => {
    const { address } = await Project.remove(options.address)
    await Audit.append({ action: "project remove", target: address, result: "ok" })
    print(`Removed ${address}. Its sessions stay, and continue when it is added again.`)
  })
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
