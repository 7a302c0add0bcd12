// What `httpAdapter` and `acpAdapter` start.
import { serveStdio } from "#edge/acp/serve-stdio.ts"
import { type Place, socketUrl, startServer, withAgent } from "#edge/server/agent-server.ts"
import { allRoutes } from "#edge/server/all-routes.ts"
import type { RunningServer } from "#edge/server/server.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import { Instance } from "#kernel/instance.ts"
import { takeStdout } from "#kernel/process/take-stdout.ts"
import type { ACPConfig, Connection } from "./acp-adapter.ts"
import { onlyAgent } from "./only-agent.ts"

export function serveHttp(agent: Agent, place: Place): Promise<RunningServer> {
  const agentFor = onlyAgent(agent)
  const served = { routes: allRoutes(agentFor), acp: { agentFor } }
  return withAgent(agent, () => startServer(agent.directory, { ...place, ...served }))
}

export function serveAcp(agent: Agent, config: ACPConfig): Promise<Connection> {
  const { transport, port, mcpServers } = config
  const acp = { agentFor: onlyAgent(agent), mcpServers }
  return withAgent(agent, async () => {
    if (transport === "stdio") return overStdio(acp, config)
    const server = await startServer(agent.directory, { port, acp })
    return { url: socketUrl(server), tokenFile: server.tokenFile, stop: server.stop }
  })
}

function overStdio(acp: Parameters<typeof serveStdio>[0], { input, output }: ACPConfig): Connection {
  const stopping = new AbortController()
  const ended = serveStdio(acp, {
    input: input ?? process.stdin,
    output: output ?? takeStdout(() => stopping.abort()),
    signal: stopping.signal,
  })
  const stop = async () => {
    stopping.abort()
    await ended
    // A folder that was refused has an instance too.
    await Instance.disposeIdle({ olderThan: 0, keep: 0 })
  }
  return { ended, stop }
}
