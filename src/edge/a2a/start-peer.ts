// The HTTP server that offers one agent over A2A, with other routes beside those of the protocol if a command has some.
import type { Rule } from "#ability/permission/permission.ts"
import { createServer, type RunningServer, type ServerOptions } from "#edge/server/server.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { version } from "#util/version.ts"
import { createA2ARoutes } from "./a2a-routes.ts"

export type A2AConfig = {
  /** Default: any free port. */
  port?: number | undefined
  /** Default: 127.0.0.1. */
  host?: string | undefined
  /** The person's rules for every task. */
  rules?: Rule[] | undefined
  /** `wait`: a task that needs a permission asks its client, for ten minutes at most; `once`: it is allowed. */
  asks?: "wait" | "once" | undefined
}

/** Starts the agent, then the server. */
export async function startPeer(
  agent: Agent,
  { port = 0, host = "127.0.0.1", rules = [], asks = "wait" }: A2AConfig,
  routes: ServerOptions["routes"] = [],
): Promise<RunningServer> {
  const { directory } = agent
  const init = startInstance
  const inside = <T>(fn: () => Promise<T>) => Instance.provide({ directory, init, fn })
  await Storage.migrate()
  await inside(() => agent.start())
  try {
    return await createServer({
      port,
      host,
      directory,
      version,
      init,
      routes: [...routes, ...createA2ARoutes({ agent, rules, asks }, inside)],
      config: async () => Config.redacted(await Config.get()),
    })
  } catch (error) {
    await agent.stop()
    throw error
  }
}
