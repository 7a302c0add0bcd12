// The HTTP server that offers one agent over A2A, with other routes beside those of the protocol if a command has some.
import type { Rule } from "#ability/permission/permission.ts"
import { type Place, startServer, withAgent } from "#edge/server/agent-server.ts"
import type { Route } from "#edge/server/define-route.ts"
import type { RunningServer } from "#edge/server/server.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import { removeA2ALeftovers } from "#engine/session/remove-a2a-records.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { createA2ARoutes } from "./a2a-routes.ts"

export type A2AConfig = Place & {
  /** The person's rules for every task. */
  rules?: Rule[] | undefined
  /** `wait`: a task that needs a permission asks its client, for ten minutes at most; `once`: it is allowed. */
  asks?: "wait" | "once" | undefined
}

/** Starts the agent, then the server. */
export function startPeer(
  agent: Agent,
  { rules = [], asks = "wait", ...place }: A2AConfig,
  routes: Route[] = [],
): Promise<RunningServer> {
  const { directory } = agent
  const inside = <T>(fn: () => Promise<T>) => Instance.provide({ directory, init: startInstance, fn })
  const all = [...routes, ...createA2ARoutes({ agent, rules, asks }, inside)]
  return withAgent(agent, async () => {
    const server = await startServer(directory, { ...place, routes: all })
    inside(removeA2ALeftovers).catch((error) => Log.warn("A2A tasks could not be cleaned up", { error }))
    return server
  })
}
