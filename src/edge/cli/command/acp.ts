// `vitamin acp`: serves editors, on stdin and stdout. The editor names the folder of each session.
import { serveStdio } from "#edge/acp/serve-stdio.ts"
import { type RuleOptions, rulesOf } from "#edge/cli/option/options.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, onSignal } from "#edge/cli/process/in-instance.ts"
import { leaveStdout, takeStdout } from "#edge/cli/process/take-stdout.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions &
  RuleOptions & {
    model?: string | undefined
    agent?: string | undefined
    yes?: boolean | undefined
    login?: boolean | undefined
    protocol?: number | undefined
    sandbox?: boolean | undefined
  }

export async function serveAcp(options: Options): Promise<void> {
  if (options.login) return logIn(options)
  if (process.stdin.isTTY)
    throw new UsageError(
      `An editor starts this command and talks to it over stdin and stdout: see docs/editors.md. In a terminal use: ${ownCommand} run`,
    )
  const { yes = false, model, agent } = options
  const protocol = protocolOf(options)
  const rules = await rulesOf(options)
  const stopping = new AbortController()
  const stopListening = onSignal((exitCode) => {
    process.exitCode = exitCode
    stopping.abort()
  })
  // Must happen before any code of a folder is loaded.
  const output = takeStdout(() => stopping.abort())
  try {
    if (options.trust) await Trust.grant(directoryOf(options), { keep: false })
    await Storage.migrate()
    const agentFor = createAgents(options)
    await serveStdio(
      { rules, yes, model, agent, protocol, agentFor },
      { input: process.stdin, output, signal: stopping.signal },
    )
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    stopListening()
  }
  leaveStdout()
}

function protocolOf({ protocol = 1 }: Options): 1 | 2 {
  if (protocol === 1 || protocol === 2) return protocol
  throw new UsageError(`--protocol ${protocol} does not exist: 1, or 2 for the draft of version 2.`)
}

/** Editors run this in a terminal for a person who has no key yet. */
async function logIn(options: Options): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError(`--login needs a terminal. Elsewhere: echo $KEY | ${ownCommand} auth login PROVIDER`)
  const { createInterface } = await import("node:readline/promises")
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const provider = (await terminal.question("Provider (such as anthropic, openai, google): ")).trim()
  terminal.close()
  if (!provider) throw new UsageError("No provider was named.")
  await (await import("./auth.ts")).login({ ...options, provider })
}
