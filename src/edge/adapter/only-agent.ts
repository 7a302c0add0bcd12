// The source of agents of a server that serves one agent: clients of other folders are refused.
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import { realDirectory } from "#kernel/real-directory.ts"
import { NamedError } from "#util/error.ts"

class InvalidFolder extends NamedError {
  constructor(directory: string, served: string) {
    super("Adapter.InvalidFolder", `The agent works in ${served}; it does nothing in ${directory}.`, {
      directory,
      served,
    })
  }
}

export function onlyAgent(agent: Agent): AgentSource {
  // Adapters in plain JavaScript may forget it.
  if (typeof agent.directory !== "string")
    throw new NamedError(
      "Adapter.Failed",
      "The wrapped agent has no directory. Take that of the inner agent.",
    )
  const served = realDirectory(agent.directory)
  return async (directory) => {
    if (realDirectory(directory) !== served) throw new InvalidFolder(directory, served)
    return agent
  }
}
