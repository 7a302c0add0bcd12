// The adapter that offers an agent to other agents over A2A. The server and the SDK are loaded when the peer starts.
import { type AgentServer, createAgentServer } from "#edge/server/create-agent-server.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import type { A2AConfig } from "./start-peer.ts"

export type { A2AConfig }

/** Its `url` has the agent card. Tasks that `stop` interrupts can be continued by their clients after the next start. */
export type A2APeer = AgentServer

export const a2aAdapter: AgentAdapter<A2AConfig, A2APeer> = Object.freeze({
  name: "a2a",
  wrap: (agent: Agent, config: A2AConfig) =>
    createAgentServer(agent, async () => (await import("./start-peer.ts")).startPeer(agent, config)),
})
