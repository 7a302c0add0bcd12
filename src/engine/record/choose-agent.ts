// Chooses the agent: the caller's, the session's, the configured one, or the default.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"

/** The first choice that is defined. An unknown name throws `Agent.NotFound`. */
export async function chooseAgent(...wishes: (string | undefined)[]): Promise<AgentDefinition> {
  await AgentRegistry.load()
  const wish = wishes.find(Boolean)
  return wish === undefined ? AgentRegistry.getDefault() : AgentRegistry.get(wish)
}
