// `vitamin script …`: keeps code that an agent wrote, after a person has reviewed it, and lists, runs and removes it.
import { resolve } from "node:path"
import { commandOf } from "#ability/script/languages.ts"
import { readCandidate } from "#ability/script/read-candidate.ts"
import * as Script from "#ability/script/script.ts"
import { markName } from "#ability/shell/environment.ts"
import { ofInstance } from "#ability/shell/shells.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, inInstance, onSignal } from "#edge/cli/process/in-instance.ts"
import { localTime } from "#edge/cli/session/session-lines.ts"
import { reviewChanges } from "#edge/cli/terminal/review-changes.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Env from "#kernel/process/env.ts"
import type * as Trust from "#kernel/trust/trust.ts"
import { ownCommand } from "#util/own-command.ts"

type Named = FolderOptions & { name: string }
type Reviewing = { yes?: boolean | undefined }

export async function listScripts(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  await inInstance(options, async () => {
    const scripts = await Script.list()
    if (options.format === "json") return print(JSON.stringify(scripts, null, 2))
    if (!scripts.length) return print(`No scripts. Keep one with: ${ownCommand} script promote FILE`)
    for (const script of scripts)
      print(wrapList(safeText(`${script.name.padEnd(24)} ${stateOf(script)}  ${script.description}`), 25))
  })
}

export async function showScript(options: Named): Promise<void> {
  await inInstance(options, async () => print(safeText((await Script.get(options.name)).code.join("\n"))))
}

export async function promoteScript(
  options: FolderOptions & Reviewing & { file: string; name?: string; description?: string },
): Promise<void> {
  refuseModel("promote a script")
  await inInstance(options, async () => {
    const script = await readCandidate(resolve(directoryOf(options), options.file), options)
    const before = (await Script.list()).find(({ name }) => name === script.name)
    const [accepted] = await reviewed([script], { ...options, before })
    if (!accepted) return print("Nothing was promoted.")
    await Script.promote(accepted)
    print(`Promoted: ${accepted.name}`)
  })
}

export async function reviewScripts(
  options: FolderOptions & Reviewing & { name?: string[] | undefined },
): Promise<void> {
  refuseModel("review scripts")
  await inInstance(options, async () => {
    const names = options.name ?? []
    const chosen = names.length ? await Promise.all(names.map(Script.get)) : await Script.list()
    const waiting = chosen.filter(({ state }) => state !== "ready")
    if (!waiting.length) return print("No script waits for a review.")
    const accepted = await reviewed(waiting, options)
    await Script.review(accepted)
    print(`Reviewed: ${accepted.map(({ name }) => name).join(", ") || "none"}`)
  })
}

/** The command ends with the exit code of the script. */
export async function runScript(options: Named & { args: string[] }): Promise<void> {
  await inInstance(options, async () => {
    const script = await Script.use(options.name)
    const shell = await ofInstance().start({
      command: commandOf(script, options.args),
      cwd: directoryOf(options),
      take: async (chunk) => void process.stdout.write(chunk),
    })
    let signalled: number | undefined
    const stopListening = onSignal((exitCode) => {
      signalled = exitCode
      void shell.stop()
    })
    const { exitCode } = await shell.ended
    stopListening()
    process.exitCode = signalled ?? exitCode ?? 1
  })
}

export async function removeScript(options: Named): Promise<void> {
  await inInstance(options, async () => {
    await Script.remove(options.name)
    print(`Removed: ${options.name}`)
  })
}

/** The scripts that the person accepts. Their code is shown, with what changed in it. */
async function reviewed<T extends Script.Info>(
  scripts: readonly T[],
  { yes, before }: Reviewing & { before?: Script.Info | undefined },
): Promise<T[]> {
  if (yes) return [...scripts]
  if (!(process.stdin.isTTY && process.stderr.isTTY))
    throw new UsageError(`Nobody can be asked to review the code here. Use a terminal, or --yes.`)
  const changes = scripts.map((script): Trust.Change & { script: T } => ({
    script,
    path: `${script.name} (${script.language}): ${script.description}`,
    state: before ? "changed" : "new",
    ...(before ? { before: textOf(before) } : {}),
    after: Buffer.from(textOf(script)),
  }))
  const accepted = await reviewChanges(changes)
  return changes.filter((change) => accepted.includes(change)).map(({ script }) => script)
}

/** Otherwise a command of the model could accept code that the model has just written. */
function refuseModel(what: string): void {
  if (Env.get(markName))
    throw new UsageError(`A command that vitamin runs cannot ${what}. Do it yourself, in a terminal.`)
}

function textOf({ code }: Script.Info): string {
  return `${code.join("\n")}\n`
}

function stateOf({ state, expires }: Script.Listed): string {
  if (state === "new") return "to review"
  return `${state === "ready" ? "until" : "expired"} ${localTime(expires!)}`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
