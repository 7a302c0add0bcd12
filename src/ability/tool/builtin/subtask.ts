// The `subtask` tool: a task for an agent in a session of its own, of which only the answer comes back.
import { z } from "zod"
import { NamedError } from "#util/error.ts"
import type { Context, Definition, Output } from "../tool.ts"
import { descriptions } from "./descriptions.ts"

const Parameters = z.strictObject({
  task: z.string().trim().min(1),
  agent: z.string().min(1).optional().describe("default: one like you"),
})
type Args = z.infer<typeof Parameters>

class Unavailable extends NamedError {
  constructor() {
    super("Subtask.Unavailable", "There is no session here that could give a task to an agent.")
  }
}

export const subtask = {
  id: "subtask",
  description: descriptions.subtask,
  category: "utility",
  parameters: Parameters,
  readOnly: false,
  permission: ({ agent }: Args) => [{ permission: "agent.delegate", target: agent ?? "default" }],
  execute,
} satisfies Definition

async function execute({ task, agent }: Args, context: Context): Promise<Output> {
  if (!context.spawn) throw new Unavailable()
  const { sessionId, text } = await context.spawn({ task, ...(agent ? { agent } : {}) })
  return {
    text,
    title: `${agent ?? "subtask"}: ${task.split("\n", 1)[0]!.slice(0, 60)}`,
    data: { sessionId },
  }
}
