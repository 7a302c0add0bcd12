// Specialists as agents, and agents as specialists: a person may write one in an agent file with the same fields.
import type { AgentSpec } from "#ability/agent/spec/agent-spec.ts"
import type { AgentDefinition } from "./agent.ts"

export { type AgentSpec, agentSpecs } from "#ability/agent/spec/agent-spec.ts"
export { orchestratorInstruction } from "#ability/agent/spec/orchestrator-instruction.ts"
export { parseReject, type Rejection } from "#ability/agent/spec/parse-reject.ts"
export { type Partition, partitionTools } from "#ability/agent/spec/partition-tools.ts"

/** The agent of a specialist. It has the tools that its prefixes give it when it runs. */
export function specToDefinition(spec: AgentSpec): AgentDefinition {
  const { name, description, instruction, accepts, returns, alwaysInclude } = spec
  const [prefixes, keywords, cannotDo] = [[...spec.prefixes], [...spec.keywords], [...spec.cannotDo]]
  return {
    id: name,
    name: name[0]!.toUpperCase() + name.slice(1),
    domain: "general",
    role: "specialist",
    capabilities: [],
    skills: [],
    mode: "subagent",
    systemPrompt: instruction,
    permissions: [],
    metadata: { description, keywords, cannotDo, prefixes, accepts, returns, alwaysInclude },
  }
}

/** The spec of an agent that is a specialist: its file or definition has prefixes, or is always included. */
export function definitionToSpec(agent: AgentDefinition): AgentSpec | undefined {
  const { description = agent.name, keywords = [], cannotDo = [] } = agent.metadata
  const {
    prefixes,
    accepts = "A task in plain words",
    returns = "The result",
    alwaysInclude,
  } = agent.metadata
  if (agent.role !== "specialist" || (!prefixes && !alwaysInclude)) return undefined
  return {
    name: agent.id,
    description,
    instruction: agent.systemPrompt,
    prefixes: prefixes ?? [],
    keywords,
    accepts,
    returns,
    cannotDo,
    alwaysInclude: alwaysInclude ?? false,
  }
}
