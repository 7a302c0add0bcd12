// `vitamin serve`: the HTTP server, until a signal stops it.
import type { WrappedAgents } from "#edge/adapter/use-adapter.ts"
import {
  directoryOf,
  type FolderOptions,
  inInstance,
  type StoreOptions,
} from "#edge/cli/process/in-instance.ts"
import { runServer } from "#edge/cli/process/run-server.ts"
import { serveUntilSignal } from "#edge/cli/process/serve-until-signal.ts"
import { warnIfOpen } from "#edge/cli/terminal/warn-if-open.ts"
import type { Cluster } from "#edge/cluster/cluster.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import { startServer } from "#edge/server/agent-server.ts"
import { allRoutes } from "#edge/server/all-routes.ts"
import type { RunningServer } from "#edge/server/server.ts"
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import * as Config from "#kernel/config/config.ts"
import * as Objects from "#kernel/objects/objects.ts"
import * as Storage from "#kernel/storage/storage.ts"

type Options = FolderOptions &
  StoreOptions & {
    port: number
    host: string
    adapter?: string | undefined
    sandbox?: boolean | undefined
  }

/** `ready` is called when the server listens. */
export async function serve(options: Options, ready?: (server: RunningServer) => void): Promise<void> {
  const { adapter, port, host, trust } = options
  if (adapter === undefined) return serveHttp(options, undefined, ready)
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

function serveHttp(
  options: Options,
  agents?: WrappedAgents,
  ready?: (server: RunningServer) => void,
): Promise<void> {
  const directory = directoryOf(options)
  const own = createAgents(options)
  const start = async (): Promise<RunningServer> => {
    // Refuses a sandbox that is missing before a client connects.
    if (!agents) await (await own(directory)).ready?.()
    const plain = agents?.agentFor ?? own
    const cluster = await openCluster(plain, directory)
    const agentFor = cluster?.agentFor ?? plain
    const server = await startServer(directory, {
      port: options.port,
      host: options.host,
      hasPage: true,
      across: cluster?.across,
      routes: allRoutes(agentFor, cluster?.schedules),
      acp: { rules: [], yes: false, agentFor },
    })
    const stop = async () => void (await Promise.all([cluster?.stop(), server.stop(), agents?.stop()]))
    return { ...server, stop }
  }
  return serveUntilSignal(options, {
    path: "",
    start,
    ready(server) {
      warnIfOpen(server.openUrls)
      ready?.(server)
    },
  })
}

/** Servers that share a database share their prompts. */
async function openCluster(agentFor: AgentSource, folder: string): Promise<Cluster | undefined> {
  const database = Storage.sharedDatabase()
  // Refuses a bucket that cannot be used before a client connects.
  await (await Objects.shared())?.check()
  return database && (await import("#edge/cluster/cluster.ts")).createCluster(database, { agentFor, folder })
}
