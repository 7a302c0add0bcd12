// The tools of one prompt: what its requests name, and what there is beyond that. Most sessions have the built-in ones only,
// and nothing has to be chosen.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { mayUse } from "#ability/tool/may-use.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import type * as Message from "#knowledge/message/message.ts"
import type { Run } from "./run.ts"

/** By the agent as it was chosen: its file may change at any time. */
export async function toolsFor(
  run: Pick<Run, "session" | "records">,
  { agent, words }: { agent: AgentDefinition; words: Message.Part[] },
): Promise<Pick<Run, "tools" | "more">> {
  const usable = ToolRegistry.list().filter((tool) => mayUse(agent, tool))
  if (usable.every(ToolRegistry.isBase))
    return { tools: [...ToolRegistry.toModelTools(usable.map(({ id }) => id))] as Run["tools"] }
  const { chooseTools } = await import("./choose-tools.ts")
  return chooseTools(run, { usable, intent: words.map(({ text }) => text).join("\n") })
}
