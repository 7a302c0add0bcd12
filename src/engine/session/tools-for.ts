// The tools of one prompt: what its requests name, and what there is beyond that. Most sessions have the built-in ones only,
// and nothing has to be chosen.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { hiddenFrom } from "#ability/mcp/if-configured.ts"
import { mayUse } from "#ability/tool/may-use.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { lineOf } from "./line-of.ts"
import { fixedOf, limitOf } from "./room.ts"
import type { Run } from "./run.ts"
import type * as SessionRecord from "./session-record.ts"

type Tools = Pick<Run, "tools" | "more" | "edition">
/** Of a run that is at work, what is in its list stays there. */
type For = Pick<Run, "session" | "records" | "agent" | "chosen"> & { tools?: Run["tools"] }

/** By the agent as it was chosen: its file may change at any time. */
export async function toolsFor(run: For, intent: string): Promise<Tools> {
  const { session, agent, chosen } = run
  const edition = ToolRegistry.edition()
  const usable = await usableTools(session, agent)
  if (usable.every(ToolRegistry.isBase))
    return { tools: run.tools ?? modelTools(usable.map(({ id }) => id)), edition }
  const { chooseTools } = await import("./choose-tools.ts")
  const limit = limitOf(chosen, agent.maxTokens)
  return { ...(await chooseTools(run, { usable, intent, limit })), edition }
}

/** Without those of servers that only other sessions have. */
export async function usableTools(
  session: SessionRecord.Info,
  agent: AgentDefinition,
): Promise<Definition[]> {
  const line = await lineOf(session)
  const hidden = hiddenFrom(line)
  return ToolRegistry.list().filter(
    (tool) => mayUse(agent, tool) && !(tool.server !== undefined && hidden.has(tool.server)),
  )
}

/** Servers may have come up, or changed, since the last request: what is new stands at the end of the next one. */
export async function growTools(run: Run): Promise<void> {
  if (run.edition === ToolRegistry.edition()) return
  Object.assign(run, { more: undefined, ...(await toolsFor(run, "")) })
  if (run.room) run.room.fixed = fixedOf(run)
}

function modelTools(ids: string[]): Run["tools"] {
  return [...ToolRegistry.toModelTools(ids)] as Run["tools"]
}
