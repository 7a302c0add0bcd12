// The specialists that are active: those that have tools on this machine, and those that are always included.
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { type AgentSpec, orchestratorInstruction, partitionTools } from "#ability/agent/specialists.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"

/** Tools of the orchestration itself, which no specialist gets. */
const orchestrating = new Set(["delegate", "subtask"])

/** `unmatched`: ids of tools that belong to no specialist, without those that are only for agents that name them. */
export function activeSpecs(): { active: AgentSpec[]; unmatched: string[] } {
  const specs = AgentRegistry.specs()
  const tools = ToolRegistry.list().filter(({ id }) => !orchestrating.has(id))
  const { byAgent, unmatched } = partitionTools(tools, specs)
  const active = specs.filter(
    ({ name, alwaysInclude }) =>
      alwaysInclude || byAgent[name]!.length > 0 || AgentRegistry.find(name)?.tools?.length,
  )
  const missing = unmatched.filter(({ onlyNamed }) => !onlyNamed)
  return { active, unmatched: missing.map(({ id }) => id) }
}

/** For the system prompt of a planner: who can carry out steps. */
export function stepAgents(): string {
  const others = activeSpecs().active.filter(({ name }) => name !== AgentRegistry.plannerAgent)
  const lines = others.map(({ name, description }) => `- ${name}: ${description}`)
  return ["Agents that can carry out steps:", ...lines].join("\n")
}

/** The system prompt of an orchestrator; its own text, if it has one, replaces the usual opening. */
export function instructionFor({ systemPrompt }: { systemPrompt: string }): string {
  const instruction = orchestratorInstruction({
    ...(systemPrompt ? { base: systemPrompt } : {}),
    ...activeSpecs(),
  })
  const remote = AgentRegistry.list().filter(({ id }) => AgentRegistry.remoteOf(id))
  if (!remote.length) return instruction
  const lines = remote.map(({ id, metadata }) => `- ${id}: ${metadata.description?.replace(/\s+/g, " ")}`)
  return [instruction, "Agents on other machines, for `delegate` too:", ...lines].join("\n")
}
