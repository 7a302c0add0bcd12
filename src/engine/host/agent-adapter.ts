// What wraps an `Agent`: it serves it over a protocol (ACP, HTTP, A2A), or returns another `Agent` around it (sandbox).
import type { Agent } from "./create-agent.ts"

/** `Wrapped` is what the adapter gives: a server, or an agent that other adapters can wrap. */
export type AgentAdapter<Config = unknown, Wrapped = unknown> = Readonly<{
  name: string
  wrap(agent: Agent, config: Config): Wrapped
}>
