// An agent written in code. Defined inside an Instance it belongs to that one; outside, every Instance that comes later
// starts with it.
import type * as Agent from "./agent.ts"
import * as AgentRegistry from "./agent-registry.ts"

/** Make an agent and register it. */
export function defineAgent(definition: Agent.Input): Agent.AgentDefinition {
  return AgentRegistry.register(definition)
}
