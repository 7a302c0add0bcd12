// The `delegate` tool: the only tool of an orchestrator. It gives a task to a specialist and returns the answer.
import { z } from "zod"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { delegationNeed } from "#ability/agent/delegation-need.ts"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"
import { checkAgent } from "./subtask.ts"

const Parameters = z
  .strictObject({
    agent: z.string().min(1).superRefine(checkSpecialist).optional().describe("required unless resume"),
    task: z.string().trim().min(1).optional().describe("required unless resume"),
    resume: z.boolean().optional(),
  })
  .refine(
    ({ agent, task, resume }) => (resume ? !agent && !task : agent && task),
    "give agent and task, or only resume",
  )
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { agent: "navigator", task: "Read https://example.org and say what the page is for." },
  arguments: {
    agent: "Specialist that gets the task.",
    task: "Everything that the specialist must know.",
    resume: "Carry out the unfinished steps of the plan.",
  },
  limits: "A specialist that rejected a task does not get it again; at most four are tried.",
}

export const delegate = {
  id: "delegate",
  description: descriptions.delegate,
  category: "utility",
  parameters: Parameters,
  readOnly: false,
  onlyNamed: true,
  permission: ({ agent }: Args) => [delegationNeed(agent ?? "plan")],
  preview: ({ task }: Args) => task ?? "the unfinished steps of the plan",
  execute,
} satisfies Definition

/** Other agents are not named: they do no tasks of an orchestrator. */
function checkSpecialist(id: string, context: z.RefinementCtx): Promise<void> {
  return checkAgent(id, context, () => AgentRegistry.specs().map(({ name }) => name))
}

async function execute({ agent, task, resume }: Args, context: Context): Promise<Output> {
  if (!context.delegate)
    throw new NamedError("Delegate.Unavailable", "Only an orchestrator in a session can delegate.")
  const done = await context.delegate(resume ? { resume } : { agent: agent!, task: task! })
  const [what = ""] = (task ?? "").split("\n", 1)
  return {
    text: done.text,
    title: resume ? "the rest of the plan" : `${done.agent ?? agent}: ${what.slice(0, 60)}`,
    data: { ...(done.agent ? { agent: done.agent } : {}), sessions: done.sessions },
  }
}
