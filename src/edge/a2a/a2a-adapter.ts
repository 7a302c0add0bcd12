// The adapter that offers an agent to other agents over A2A. The server and the SDK are loaded when the peer starts.
import type { RunningServer } from "#edge/server/server.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import type { A2AConfig } from "./start-peer.ts"

export type { A2AConfig }

export type A2APeer = Readonly<{
  start(): Promise<void>
  /** Interrupts running tasks; their clients can continue them after the next start. */
  stop(): Promise<void>
  /** The server that has the agent card; undefined while it does not run. */
  url: string | undefined
  /** The file with the token that clients need. */
  tokenFile: string | undefined
}>

export const a2aAdapter: AgentAdapter<A2AConfig, A2APeer> = Object.freeze({
  name: "a2a",
  wrap(agent: Agent, config: A2AConfig) {
    let server: RunningServer | undefined
    return Object.freeze({
      async start() {
        const { startPeer } = await import("./start-peer.ts")
        server ??= await startPeer(agent, config)
      },
      async stop() {
        const stopped = server?.stop()
        server = undefined
        await agent.stop()
        await stopped
      },
      get url() {
        return server?.url
      },
      get tokenFile() {
        return server?.tokenFile
      },
    })
  },
})
