// `vitamin` and `vitamin attach`: the interactive terminal, on this folder or on a server that runs elsewhere. What the first
// frame does not need is imported late.
import { join, resolve } from "node:path"
import type { PromptOptions } from "#edge/cli/option/prompt-options.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type Connection, openTui } from "#edge/tui/tui.ts"
import * as Global from "#kernel/process/global.ts"
import { ownCommand } from "#util/own-command.ts"
import { version } from "#util/version.ts"

type ChatOptions = PromptOptions & { plain?: boolean | undefined }

export async function chat(options: ChatOptions): Promise<void> {
  await open(options, () => connectHere(options))
}

export async function attach(options: ChatOptions & { url?: string | undefined }): Promise<void> {
  if (options.trust) throw new UsageError("attach has no --trust: type /trust there to review the files.")
  if (options.sandbox)
    throw new UsageError(`attach has no --sandbox: start the server with ${ownCommand} serve --sandbox.`)
  await open(options, () => connectTo(options.url ?? "http://127.0.0.1:3141", options))
}

async function open(options: ChatOptions, connect: () => Promise<Connection>): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError(`This needs a terminal. Without one: ${ownCommand} run "…"`)
  const { agent, model, mode, session, allow, deny, yes, maxSteps, maxCost, timeout } = options
  process.exitCode = await openTui({
    async connect() {
      const { boundHeap, releaseWhenIdle } = await import("#edge/cli/process/bound-heap.ts")
      boundHeap(8_000_000)
      releaseWhenIdle()
      return connect()
    },
    folder: folderOf(options),
    command: ownCommand,
    version,
    historyFile: join(Global.state(), "prompts.jsonl"),
    themeFile: join(Global.state(), "theme"),
    text: (options.message ?? []).join(" ").trim(),
    parts: () => readAttachments(options),
    ...(session === undefined ? {} : { session }),
    isContinued: options.continue === true,
    ...(agent ? { agent } : {}),
    ...(model ? { model } : {}),
    ...(mode ? { mode } : {}),
    isSandboxed: options.sandbox === true,
    isPlain: options.plain === true || process.env.TERM === "dumb",
    settings: {
      ...(allow ? { allow } : {}),
      ...(deny ? { deny } : {}),
      ...(yes ? { asks: "once" as const } : {}),
      ...(maxSteps ? { maxSteps } : {}),
      ...(maxCost ? { maxCost } : {}),
      ...(timeout ? { timeout: timeout * 1000 } : {}),
    },
  })
}

function folderOf({ dir }: ChatOptions): string {
  return resolve(dir ?? process.cwd())
}

async function readAttachments(options: ChatOptions) {
  if (!options.file?.length && !options.image?.length) return []
  return (await import("#edge/cli/run/attachments-of.ts")).attachmentsOf(options)
}

/** The engine in this process. */
async function connectHere(options: ChatOptions): Promise<Connection> {
  const [{ createLocalTransport }, { createAgents }, { createClient }, Storage] = await Promise.all([
    import("#edge/server/local-transport.ts"),
    import("#edge/sandbox/agents.ts"),
    import("#client/client.ts"),
    import("#kernel/storage/storage.ts"),
  ])
  const directory = folderOf(options)
  if (options.trust) await (await import("#kernel/trust/trust.ts")).grant(directory, { keep: false })
  const transport = createLocalTransport({ directory, agentFor: createAgents(options) })
  return {
    client: createClient(transport),
    async close() {
      await transport.close()
      await Storage.close()
    },
  }
}

async function connectTo(url: string, options: ChatOptions): Promise<Connection> {
  const { createClient, createHttpTransport } = await import("#client/client.ts")
  const token = process.env.VITAMIN_TOKEN || (await ownToken(url))
  const transport = createHttpTransport({ url, token, directory: folderOf(options) })
  const client = createClient(transport)
  // Refuses a wrong address or token at once; a connection that is lost later is tried again.
  await client.getInfo()
  return { client, server: url, close: async () => {} }
}

/** The token of the server on this machine. No other machine may see it. */
async function ownToken(url: string): Promise<string> {
  const host = URL.canParse(url) ? new URL(url).hostname : ""
  if (host !== "localhost" && host !== "[::1]" && !/^127(\.\d+){3}$/.test(host))
    throw new UsageError(
      `${url} is not on this machine (such as http://127.0.0.1:3141): set VITAMIN_TOKEN to the token of the server there.`,
    )
  const token = (await import("#edge/server/token.ts")).find()
  if (token !== undefined) return token
  throw new UsageError(`No server was started here. Run ${ownCommand} serve, or set VITAMIN_TOKEN.`)
}
