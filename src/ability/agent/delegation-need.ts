// The permission that a task for an agent needs. A task for a remote agent leaves the machine, so it has one of its own.
import { Instance } from "#kernel/instance.ts"
import * as AgentRegistry from "./agent-registry.ts"

export function delegationNeed(agent: string): { permission: string; target: string } {
  const isRemote = Instance.isProvided && AgentRegistry.remoteOf(agent) !== undefined
  return { permission: isRemote ? "agent.remote" : "agent.delegate", target: agent }
}
