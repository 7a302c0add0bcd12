// The `subtask` tool: gives a task to an agent in a session of its own and returns only the answer.
import { z } from "zod"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { delegationNeed } from "#ability/agent/delegation-need.ts"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import { errorText, NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"

const Parameters = z.strictObject({
  task: z.string().trim().min(1),
  // Resolved here, so that a person is not asked about an agent that does not exist.
  agent: z
    .string()
    .min(1)
    .superRefine((id, context) => checkAgent(id, context))
    .optional()
    .describe("default: one like you"),
})
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { task: "Find where the port of the server is decided.", agent: "plan" },
  arguments: {
    task: "Everything that the other agent must know; it sees nothing else of the session.",
    agent: "Agent to ask; without it one like the caller.",
  },
  limits: "The task has a session of its own; only its answer comes back.",
}

export const subtask = {
  id: "subtask",
  description: descriptions.subtask,
  category: "utility",
  parameters: Parameters,
  readOnly: false,
  permission: ({ agent }: Args) => [delegationNeed(agent ?? "default")],
  preview: ({ task }: Args) => task,
  execute,
} satisfies Definition

/** `listed`: the agents that the error names if there is no such agent. */
export async function checkAgent(
  id: string,
  context: z.RefinementCtx,
  listed?: () => string[],
): Promise<void> {
  if (!Instance.isProvided) return
  try {
    await AgentRegistry.load()
    AgentRegistry.get(id)
  } catch (error) {
    const isMissing = listed && error instanceof AgentRegistry.NotFound
    const reason = isMissing ? new AgentRegistry.NotFound(id, listed()) : error
    context.addIssue({ code: "custom", message: errorText(reason) })
    return
  }
  // It would choose an agent that nobody was asked about.
  if (id === AgentRegistry.autoAgent)
    context.addIssue({ code: "custom", message: `name the agent itself, not "${id}"` })
}

async function execute({ task, agent }: Args, context: Context): Promise<Output> {
  if (!context.spawn)
    throw new NamedError(
      "Subtask.Unavailable",
      "There is no session here that could give a task to an agent.",
    )
  const { sessionId, text } = await context.spawn({ task, ...(agent ? { agent } : {}) })
  return {
    text,
    title: `${agent ? `${agent}: ` : ""}${task.split("\n", 1)[0]!.slice(0, 60)}`,
    data: { sessionId },
  }
}
