// `vitamin mcp serve`: this folder's tools and agents for MCP clients, on stdin and stdout or over HTTP.

import { type RuleOptions, rulesOf } from "#edge/cli/option/options.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, inInstance, onSignal } from "#edge/cli/process/in-instance.ts"
import { leaveStdout } from "#edge/cli/process/leave-stdout.ts"
import { warnIfOpen } from "#edge/cli/terminal/warn-if-open.ts"
import { createMcpRoutes } from "#edge/mcp/mcp-routes.ts"
import { serveStdio } from "#edge/mcp/serve-stdio.ts"
import { createServer } from "#edge/server/server.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"
import { takeStdout } from "#kernel/process/take-stdout.ts"
import { ownCommand } from "#util/own-command.ts"
import { version } from "#util/version.ts"

type Options = FolderOptions &
  RuleOptions & {
    http?: boolean | undefined
    port: number
    host: string
    yes?: boolean | undefined
  }

/** An environment variable that tells child processes that an MCP server started them. */
const nestedFlag = "VITAMIN_MCP_SERVE"

export async function serveMcp(options: Options): Promise<void> {
  if (!options.http && process.stdin.isTTY)
    throw new UsageError(
      `An MCP client starts this command and talks to it over stdin and stdout: see docs/mcp.md. To serve over HTTP: ${ownCommand} mcp serve --http`,
    )
  const { yes = false } = options
  const rules = await rulesOf(options)
  // A nested server offers no tools of other servers. Otherwise a server that lists itself would start itself endlessly.
  const offering = { rules, yes, servers: Env.get(nestedFlag) === undefined }
  process.env[nestedFlag] = "1"
  const stopping = new AbortController()
  const stopListening = onSignal((exitCode) => {
    process.exitCode = exitCode
    stopping.abort()
  })
  const { signal } = stopping
  // Must happen before any code of the folder is loaded.
  const output = options.http ? undefined : takeStdout(() => stopping.abort())
  await inInstance(options, async () => {
    await Config.watch()
    if (output) await serveStdio(offering, { output, signal })
    else await serveHttp(options, offering, signal)
  }).finally(stopListening)
  if (output) leaveStdout()
}

async function serveHttp(
  options: Options,
  offering: Parameters<typeof createMcpRoutes>[0],
  signal: AbortSignal,
): Promise<void> {
  const { routes, close } = createMcpRoutes(offering)
  const server = await createServer({
    port: options.port,
    host: options.host,
    directory: directoryOf(options),
    version,
    init: startAndWatch,
    routes,
    config: async () => Config.redacted(await Config.get()),
  })
  process.stdout.write(`vitamin is listening on ${server.url}/mcp (token in ${server.tokenFile})\n`)
  warnIfOpen(server.openUrls)
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
  await close()
  const stopped = server.stop()
  await Instance.disposeAll()
  await stopped
}

async function startAndWatch() {
  await startParts()
  await Config.watch()
}
