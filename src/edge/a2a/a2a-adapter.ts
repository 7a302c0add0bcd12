// The adapter that offers an agent to other agents over A2A. The HTTP server is loaded when the peer starts.
import type { Rule } from "#ability/permission/permission.ts"
import type { RunningServer, ServerOptions } from "#edge/server/server.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"

export type A2AConfig = {
  /** Default: any free port. */
  port?: number
  /** Default: 127.0.0.1. */
  host?: string
  /** The person's rules for every task. */
  rules?: Rule[]
  /** `wait`: a task that needs a permission asks its client, for ten minutes at most; `once`: it is allowed. */
  asks?: "wait" | "once"
} & Partial<Pick<ServerOptions, "routes">>

export type A2APeer = Readonly<{
  start(): Promise<RunningServer>
  /** Ends running tasks; their clients can continue them after the next start. */
  stop(): Promise<void>
  /** The address of the agent card's server; known from `start` on. */
  readonly url: string
}>

export const a2aAdapter: AgentAdapter<A2AConfig, A2APeer> = Object.freeze({
  name: "a2a",
  wrap(agent, config) {
    let starting: Promise<RunningServer> | undefined
    let server: RunningServer | undefined

    async function open(): Promise<RunningServer> {
      const [{ createA2ARoutes }, { createServer }, { startInstance }, Config, { version }] =
        await Promise.all([
          import("./a2a-routes.ts"),
          import("#edge/server/server.ts"),
          import("#edge/server/start-instance.ts"),
          import("#kernel/config/config.ts"),
          import("#util/version.ts"),
        ])
      const { port = 0, host = "127.0.0.1", rules = [], asks = "wait" } = config
      const { directory } = agent
      const init = startInstance
      const inside = <T>(fn: () => Promise<T>) => Instance.provide({ directory, init, fn })
      await inside(() => agent.start())
      return createServer({
        port,
        host,
        directory,
        version,
        init,
        routes: [...(config.routes ?? []), ...createA2ARoutes({ agent, rules, asks }, inside)],
        config: async () => Config.redacted(await Config.get()),
      })
    }

    return Object.freeze({
      async start() {
        starting ??= open()
        server = await starting
        return server
      },
      async stop() {
        const running = await starting?.catch(() => undefined)
        starting = undefined
        server = undefined
        const stopped = running?.stop()
        await agent.stop()
        await stopped
      },
      get url() {
        if (server) return server.url
        throw new NamedError("A2A.NotStarted", 'The URL is known after "await peer.start()".')
      },
    })
  },
})
