// Defines an agent in code. It belongs to the current Instance; outside of one, to every Instance that is created
// later.
import type * as Agent from "./agent.ts"
import * as AgentRegistry from "./agent-registry.ts"

/** Create an agent and register it. */
export function defineAgent(definition: Agent.Input): Agent.AgentDefinition {
  return AgentRegistry.register(definition)
}
