// Who does a piece of work: the caller's choice, the session's, the configuration's, or the default.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"

/** The first of the wishes that is one. A name that no agent has throws `Agent.NotFound`. */
export async function chooseAgent(...wishes: (string | undefined)[]): Promise<AgentDefinition> {
  await AgentRegistry.load()
  const wish = wishes.find(Boolean)
  return wish === undefined ? AgentRegistry.getDefault() : AgentRegistry.get(wish)
}
