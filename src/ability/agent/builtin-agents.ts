// The built-in agents: one that does the work, one that only reads and plans, one that only delegates, and the specialists.
// Written as plain objects, so that a start need not wait for a schema.
import { agentSpecs } from "#ability/agent/spec/agent-spec.ts"
import { planner } from "#ability/permission/rule.ts"
import type { AgentDefinition } from "./agent.ts"
import { specToDefinition } from "./specialists.ts"

/** The agent that is used if none is named. */
export const defaultAgent = "build"
/** Stands for another agent: the one that `AgentRegistry.resolve` chooses for the prompt. */
export const autoAgent = "auto"
/** Writes plans, which an orchestrator carries out. */
export const plannerAgent = "planner"

const common = { domain: "general", capabilities: [], skills: [], mode: "primary" as const }

export const builtinAgents: readonly AgentDefinition[] = [
  {
    ...common,
    id: defaultAgent,
    name: "Build",
    role: "executor",
    permissions: [],
    systemPrompt: "",
    metadata: { description: "Does the work: reads, writes, runs, checks." },
  },
  {
    ...common,
    id: "plan",
    name: "Plan",
    role: "advisor",
    permissions: [...planner],
    systemPrompt:
      "You plan and change nothing. Read what matters, then give a plan: the goal, the steps in order with the files " +
      "that each one touches, what could go wrong, and how the result will be checked. Ask where the request leaves " +
      "an important choice open.",
    metadata: {
      description: "Reads and plans; writing and commands are denied.",
      keywords: ["make a plan", "plan how", "plan for"],
      grounding: ["code_repo"],
    },
  },
  {
    ...common,
    id: autoAgent,
    name: "Auto",
    role: "utility",
    permissions: [],
    systemPrompt: "",
    metadata: { description: "Chooses the agent for each prompt: by `agent.rules`, then by its words." },
  },
  {
    ...common,
    id: "orchestrator",
    name: "Orchestrator",
    role: "orchestrator",
    tools: ["delegate"],
    permissions: [{ permission: "agent.delegate", pattern: "*", action: "allow" }],
    systemPrompt: "",
    metadata: { description: "Delegates each part of a request to the specialist that fits." },
  },
  ...agentSpecs.map(specToDefinition),
]
