// Defines an agent in code. Inside an Instance the agent belongs to it; outside, to every Instance that is created later.
import type * as Agent from "./agent.ts"
import * as AgentRegistry from "./agent-registry.ts"

/** Create an agent and register it. */
export function defineAgent(definition: Agent.Input): Agent.AgentDefinition {
  return AgentRegistry.register(definition)
}
