// The remote agents of the configuration as agents of the registry. What their cards say is not used here: a name or a
// description of another machine must not decide what a model reads or whom it asks.
import * as Log from "#kernel/process/log.ts"
import type { RemoteAgent } from "#kernel/schema/schema.ts"
import type { AgentDefinition } from "./agent.ts"

type Entry = { agent: AgentDefinition; remote: RemoteAgent }

/** Returns the remote agents whose names are free: one never replaces another agent. `said`: warnings that were logged. */
export function remoteAgents(
  configured: Record<string, RemoteAgent>,
  local: ReadonlyMap<string, unknown>,
  said: Set<string>,
): Map<string, Entry> {
  const found = new Map<string, Entry>()
  for (const [id, remote] of Object.entries(configured)) {
    if (!local.has(id)) found.set(id, { agent: definitionOf(id, remote), remote })
    else if (!said.has(`remote ${id}`)) {
      said.add(`remote ${id}`)
      Log.warn(`the remote agent ${id} is left out: another agent has that name`)
    }
  }
  return found
}

function definitionOf(id: string, { url, description }: RemoteAgent): AgentDefinition {
  return Object.freeze<AgentDefinition>({
    id,
    name: id,
    domain: "general",
    role: "specialist",
    capabilities: [],
    tools: [],
    skills: [],
    mode: "subagent",
    systemPrompt: "",
    permissions: [],
    metadata: { description: description ?? `An agent at ${new URL(url).host}.` },
  })
}
