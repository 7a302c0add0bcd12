// `vitamin trust`: reviews the files of a folder that can run something, one by one, or removes trust. In a terminal
// it shows each file and asks; `--yes` trusts all as they are now and prints a summary.
import { resolve } from "node:path"
import { markName } from "#ability/shell/environment.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { reviewChanges, summaryOf } from "#edge/cli/terminal/review-changes.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { loadTrusted } from "#engine/host/load-trusted.ts"
import * as Env from "#kernel/process/env.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions & {
  folder?: string | undefined
  remove?: boolean | undefined
  list?: boolean | undefined
  yes?: boolean | undefined
  file?: string[] | undefined
}

export async function trust(options: Options): Promise<void> {
  try {
    process.stdout.write(safeText(await change(options)))
  } finally {
    await Storage.close()
  }
}

async function change(options: Options): Promise<string> {
  if (options.list) return list()
  const directory = directoryOf({ dir: options.folder ?? options.dir })
  if (options.remove) return `No longer trusted: ${await Trust.remove(directory)}\n`
  // Otherwise a command of the model could trust a file that the model has just written.
  if (Env.get(markName))
    throw new UsageError(
      `A command that vitamin runs cannot grant trust. Run ${ownCommand} trust yourself, in a terminal.`,
    )
  const changes = await Trust.pending(directory, { also: (options.file ?? []).map((path) => resolve(path)) })
  const isAsked = !options.yes && changes.length > 0
  if (isAsked && !(process.stdin.isTTY && process.stderr.isTTY))
    throw new UsageError(
      `${countOf(changes.length, "file")} to review, and nobody can be asked here. Run ${ownCommand} trust in a terminal, or ${ownCommand} trust --yes to trust all as they are now.`,
    )
  const accepted = isAsked ? await reviewChanges(changes) : changes
  if (isAsked && !accepted.length) return "Nothing was trusted.\n"
  await Trust.accept(directory, accepted)
  const root = Trust.rootOf(directory)
  for (const problem of await loadTrusted(root)) process.stderr.write(safeText(`${problem}\n`))
  const left = changes.filter((one) => !accepted.includes(one))
  return [
    `Trusted: ${root}\n`,
    ...accepted.map(summaryOf),
    ...left.map(({ path }) => `  not trusted  ${path}\n`),
  ].join("")
}

async function list(): Promise<string> {
  const lines: string[] = []
  for (const { directory } of await Trust.list()) lines.push(directory, ...(await waiting(directory)))
  if (!lines.length) return "No folder is trusted yet.\n"
  return lines.map((line) => `${line}\n`).join("")
}

async function waiting(directory: string): Promise<string[]> {
  try {
    const changes = await Trust.pending(directory)
    if (!changes.length) return []
    const title = `  ${countOf(changes.length, "file")} to review: ${ownCommand} trust ${directory}`
    return [title, ...changes.map(({ state, path }) => `    ${state.padEnd(8)} ${path}`)]
  } catch (error) {
    if (error instanceof Trust.InvalidDirectory) return ["  does not exist any more"]
    throw error
  }
}
