// `vitamin serve`: the HTTP server, until a signal stops it.
import type { WrappedAgents } from "#edge/adapter/use-adapter.ts"
import { directoryOf, type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { runServer } from "#edge/cli/process/run-server.ts"
import { serveUntilSignal } from "#edge/cli/process/serve-until-signal.ts"
import { warnIfOpen } from "#edge/cli/terminal/warn-if-open.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import { allRoutes } from "#edge/server/all-routes.ts"
import { createServer, type RunningServer } from "#edge/server/server.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import * as Config from "#kernel/config/config.ts"
import { version } from "#util/version.ts"

type Options = FolderOptions & {
  port: number
  host: string
  adapter?: string | undefined
  sandbox?: boolean | undefined
}

export async function serve(options: Options): Promise<void> {
  const { adapter, port, host, trust } = options
  if (adapter === undefined) return serveHttp(options)
  await inInstance(options, async () => {
    const { useAdapter } = await import("#edge/adapter/use-adapter.ts")
    const config = { port, host }
    const agents = createAgents(options)
    const wrapped = await useAdapter(adapter, { directory: directoryOf(options), trust, config, agents })
    if (!("server" in wrapped)) return serveHttp(options, wrapped)
    await Config.watch()
    await runServer(wrapped.server, (url) => process.stdout.write(`vitamin is listening on ${url}\n`))
  })
}

function serveHttp(options: Options, agents?: WrappedAgents): Promise<void> {
  const directory = directoryOf(options)
  const own = createAgents(options)
  const start = async (): Promise<RunningServer> => {
    // Refuses a sandbox that is missing before a client connects.
    if (!agents) await (await own(directory)).ready?.()
    const server = await createServer({
      port: options.port,
      host: options.host,
      directory,
      version,
      init: startInstance,
      routes: allRoutes(agents?.agentFor ?? own),
      acp: { rules: [], yes: false, agentFor: agents?.agentFor ?? own },
      config: async () => Config.redacted(await Config.get()),
    })
    const stop = async () => void (await Promise.all([server.stop(), agents?.stop()]))
    return { ...server, stop }
  }
  return serveUntilSignal(options, { path: "", start, ready: ({ openUrls }) => warnIfOpen(openUrls) })
}
