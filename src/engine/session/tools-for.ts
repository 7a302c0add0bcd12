// The tools of one prompt: what its requests name, and what there is beyond that. Most sessions have the built-in ones only,
// and nothing has to be chosen.
import { mayUse } from "#ability/tool/may-use.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { fixedOf, limitOf } from "./room.ts"
import type { Run } from "./run.ts"

type Tools = Pick<Run, "tools" | "more" | "edition">
/** Of a run that is at work, what is in its list stays there. */
type For = Pick<Run, "session" | "records" | "agent" | "chosen"> & { tools?: Run["tools"] }

/** By the agent as it was chosen: its file may change at any time. */
export async function toolsFor(run: For, intent: string): Promise<Tools> {
  const { agent, chosen } = run
  const edition = ToolRegistry.edition()
  const usable = ToolRegistry.list().filter((tool) => mayUse(agent, tool))
  if (usable.every(ToolRegistry.isBase))
    return { tools: run.tools ?? modelTools(usable.map(({ id }) => id)), edition }
  const { chooseTools } = await import("./choose-tools.ts")
  const limit = limitOf(chosen, agent.maxTokens)
  return { ...(await chooseTools(run, { usable, intent, limit })), edition }
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
