// The HTTP server of one agent: the routes of `vitamin serve` for its folder. Its prompts go through the agent.
import { allRoutes } from "#edge/server/all-routes.ts"
import { createServer, type RunningServer } from "#edge/server/server.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { version } from "#util/version.ts"
import { onlyAgent } from "./only-agent.ts"

/** Starts the agent, then the server. */
export async function startAgentServer(
  agent: Agent,
  { port = 0, host = "127.0.0.1" }: { port?: number | undefined; host?: string | undefined },
): Promise<RunningServer> {
  const { directory } = agent
  await Storage.migrate()
  await Instance.provide({ directory, init: startInstance, fn: () => agent.start() })
  try {
    return await createServer({
      port,
      host,
      directory,
      version,
      init: startInstance,
      routes: allRoutes(onlyAgent(agent)),
      config: async () => Config.redacted(await Config.get()),
    })
  } catch (error) {
    await agent.stop()
    throw error
  }
}
