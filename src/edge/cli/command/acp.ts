// `vitamin acp`: serves editors, on stdin and stdout, or over a WebSocket if `adapters.acp` of the configuration says so.
// The editor names the folder of each session.
import type { Readable, Writable } from "node:stream"
import type { Rule } from "#ability/permission/permission.ts"
import type { Serving } from "#edge/acp/acp-agent.ts"
import { serveStdio } from "#edge/acp/serve-stdio.ts"
import type { AdapterServer, WrappedAgents } from "#edge/adapter/use-adapter.ts"
import { type RuleOptions, rulesOf } from "#edge/cli/option/options.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, onSignal } from "#edge/cli/process/in-instance.ts"
import { leaveStdout } from "#edge/cli/process/leave-stdout.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { takeStdout } from "#kernel/process/take-stdout.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions &
  RuleOptions & {
    model?: string | undefined
    agent?: string | undefined
    yes?: boolean | undefined
    login?: boolean | undefined
    protocol?: number | undefined
    adapter?: string | undefined
    sandbox?: boolean | undefined
  }
/** `adapters.acp` of the configuration, and the streams of the process. */
type Way = { transport: "stdio" | "http"; port?: number | undefined; input: Readable; output: Writable }
type Wrapped = { server: AdapterServer } | WrappedAgents | undefined

export async function serveAcp(options: Options): Promise<void> {
  if (options.login) return logIn(options)
  const { yes = false, model, agent } = options
  const protocol = protocolOf(options)
  const rules = [...(await rulesOf(options))]
  const stopping = new AbortController()
  const stopListening = onSignal((exitCode) => {
    process.exitCode = exitCode
    stopping.abort()
  })
  // Must happen before any code of a folder is loaded.
  const output = takeStdout(() => stopping.abort())
  let wrapped: Wrapped
  try {
    if (options.trust) await Trust.grant(directoryOf(options), { keep: false })
    await Storage.migrate()
    const way: Way = { ...(await configured(directoryOf(options))), input: process.stdin, output }
    if (way.transport === "stdio") refuseTerminal()
    const own = createAgents(options)
    wrapped = await wrappedAgents(options, { rules, way, agents: own })
    const agentFor = wrapped && "agentFor" in wrapped ? wrapped.agentFor : own
    const serving = { rules, yes, model, agent, protocol, agentFor }
    const announce = (url: string) => void (way.transport === "http" && output.write(ready(url)))
    if (wrapped && "server" in wrapped) await run(wrapped.server, announce)
    else if (way.transport === "http") await serveHttp(serving, way, directoryOf(options))
    else await serveStdio(serving, { ...way, signal: stopping.signal })
  } finally {
    if (wrapped && "agentFor" in wrapped) await wrapped.stop()
    await Instance.disposeAll()
    await Storage.close()
    stopListening()
  }
  leaveStdout()
}

/** A broken configuration is reported to the client, when it opens a session in that folder. */
async function configured(directory: string): Promise<Pick<Way, "transport" | "port">> {
  const usual = { transport: "stdio" as const }
  try {
    const fn = async () => (await Config.get()).adapters?.acp ?? usual
    return await Instance.provide({ directory, init: startParts, fn })
  } catch (error) {
    Log.debug("the configuration of this folder is not used", { error: errorText(error) })
    return usual
  } finally {
    await Instance.disposeIdle({ olderThan: 0, keep: 0 })
  }
}

function refuseTerminal(): void {
  if (process.stdin.isTTY)
    throw new UsageError(
      `An editor starts this command and talks to it over stdin and stdout: see docs/editors.md. In a terminal use: ${ownCommand} run`,
    )
}

/** The agents of `--adapter`. A server of its own gets the configuration, so that it can be one of `acpAdapter`. */
async function wrappedAgents(
  options: Options,
  { rules, way, agents }: { rules: readonly Rule[]; way: Way; agents: AgentSource },
): Promise<Wrapped> {
  const { adapter, trust, yes, model, agent } = options
  if (adapter === undefined) return undefined
  const { useAdapter } = await import("#edge/adapter/use-adapter.ts")
  const { startInstance } = await import("#edge/server/start-instance.ts")
  const named = { ...(model ? { model } : {}), ...(agent ? { agent } : {}) }
  const directory = directoryOf(options)
  const settings = { rules: [...rules], ...(yes ? { asks: "once" as const } : {}), ...named }
  const fn = () => useAdapter(adapter, { directory, trust, config: way, agents, settings })
  return Instance.provide({ directory, init: startInstance, fn })
}

async function serveHttp(serving: Serving, { port, output }: Way, directory: string): Promise<void> {
  const { socketUrl, startServer } = await import("#edge/server/agent-server.ts")
  const server = await startServer(directory, { port, acp: serving })
  output.write(ready(`${socketUrl(server)} (token in ${server.tokenFile})`))
  await run({ start: async () => {}, stop: server.stop }, () => {})
}

function protocolOf({ protocol = 1 }: Options): 1 | 2 {
  if (protocol === 1 || protocol === 2) return protocol
  throw new UsageError(`--protocol ${protocol} does not exist: 1, or 2 for the draft of version 2.`)
}

/** Loaded late: it is in one file with the HTTP server, which an editor on stdin does not need. */
async function run(server: AdapterServer, announce: (url: string) => void): Promise<void> {
  const { runServer } = await import("#edge/cli/process/run-server.ts")
  await runServer(server, announce)
}

function ready(url: string): string {
  return `vitamin is listening on ${url}\n`
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
