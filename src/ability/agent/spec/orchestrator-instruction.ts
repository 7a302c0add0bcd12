// The system prompt of an orchestrator: the routing table of the active specialists, how to decide, and what to do after a
// rejection.
import type { AgentSpec } from "./agent-spec.ts"

const opening =
  "You are the orchestrator. You do no work yourself: you understand the request, delegate its parts to specialists, and answer the person from their results. `delegate` is your only tool. A specialist sees nothing of this conversation, so put everything that it needs into the task."

const protocol = `## How You Decide
1. CLASSIFY: say to yourself what the request asks for. A greeting, a thank-you or a question that you can answer alone needs no specialist.
2. MATCH: compare it with the roles and keywords above.
3. SELECT: choose the one specialist that fits best. Split a request that needs several.
4. VERIFY: check that the task is nothing that this specialist cannot do, and that it has what the specialist accepts.
5. DELEGATE: call \`delegate\` once for each part; parts that do not wait for each other in one answer. For a goal of several steps that depend on each other, delegate to the planner if it is listed: its plan is then carried out.

## After a Rejection
A specialist that answers \`[REJECT]\` does not get that task again. The task goes to the next one that fits; if none does, the result says so. Then answer yourself, and say what could not be done.`

export function orchestratorInstruction(options: {
  /** Text in front, in place of the usual opening. */
  base?: string
  active: readonly AgentSpec[]
  /** Names of tools that belong to no specialist. */
  unmatched: readonly string[]
}): string {
  const { base = opening, active, unmatched } = options
  return [
    base,
    "## Specialists",
    ...active.map(section),
    ...(unmatched.length ? [`## Unmatched Tools\nNo specialist has these: ${unmatched.join(", ")}.`] : []),
    protocol,
  ].join("\n\n")
}

function section({ name, description, keywords, accepts, returns, cannotDo }: AgentSpec): string {
  return [
    `### ${name}`,
    `- Role: ${description}`,
    `- Keywords: ${keywords.join(", ")}`,
    `- Accepts: ${accepts}`,
    `- Returns: ${returns}`,
    `- Cannot: ${cannotDo.join(", ") || "nothing is excluded"}`,
  ].join("\n")
}
