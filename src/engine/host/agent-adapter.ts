// What wraps an `Agent`: it serves it over a protocol (ACP, HTTP, A2A), or returns another `Agent` around it (sandbox).
import { type Agent, createAgent } from "./create-agent.ts"

/** `Wrapped` is what the adapter gives: a server, or an agent that other adapters can wrap. */
export type AgentAdapter<Config = unknown, Wrapped = unknown> = Readonly<{
  name: string
  wrap(agent: Agent, config: Config): Wrapped
}>

/** Where an edge gets the agent of a folder from. Every prompt of a client goes to `process` of that agent. */
export type AgentSource = (directory: string) => Promise<Agent>

/** Agents without an adapter. */
export const plainAgents: AgentSource = (directory) => createAgent({ directory })
