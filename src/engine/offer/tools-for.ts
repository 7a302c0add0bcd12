// The tools of one prompt: those that its requests name, and those that `tool_search` can find. Most sessions have
// only the built-in tools, and nothing has to be chosen.

import type { AgentDefinition } from "#ability/agent/agent.ts"
import { hiddenFrom } from "#ability/mcp/if-configured.ts"
import { mayUse } from "#ability/tool/may-use.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { limitOf } from "#engine/run/budget.ts"
import type { Offer, Run } from "#engine/run/run.ts"

/** Tools that an offer already names stay in its list. */
type For = Pick<Run, "session" | "progress" | "agent" | "chosen"> & { offer?: Offer }

/** Uses the agent as it was when it was chosen: its file may change at any time. */
export async function toolsFor(run: For, intent: string): Promise<Offer> {
  const { session, agent, chosen } = run
  const version = ToolRegistry.version()
  const usable = await usableTools(session, agent)
  if (usable.every(ToolRegistry.isBase))
    return { tools: run.offer?.tools ?? modelTools(usable.map(({ id }) => id)), version }
  const { chooseTools } = await import("./choose-tools.ts")
  const limit = limitOf(chosen, agent.maxTokens)
  return { ...(await chooseTools(run, { usable, intent, limit })), version }
}

/** The tools that an agent may use, without those of servers that belong to other sessions. */
export async function usableTools(
  session: SessionRecord.Info,
  agent: AgentDefinition,
): Promise<Definition[]> {
  const line = await sessionChain(session)
  const hidden = hiddenFrom(line)
  return ToolRegistry.list().filter(
    (tool) => mayUse(agent, tool) && !(tool.server !== undefined && hidden.has(tool.server)),
  )
}

/** Servers may have started or changed since the last request: new tools are appended to the list. */
export async function growTools(run: Run): Promise<void> {
  if (run.offer.version === ToolRegistry.version()) return
  Object.assign(run.offer, { more: undefined }, await toolsFor(run, ""))
}

function modelTools(ids: string[]): Offer["tools"] {
  return [...ToolRegistry.toModelTools(ids)] as Offer["tools"]
}

type Link = Pick<SessionRecord.Info, "id" | "taskOf">

/** The ids of a session, of the session that gave it its task, and so on up to the session of a person: MCP servers
 * that a client adds to one of them are available to the tasks below it. The list ends at a missing record. */
export async function sessionChain(session: Link): Promise<string[]> {
  const line = new Set<string>()
  for (let link: Link | undefined = session; link && !line.has(link.id); link = await above(link))
    line.add(link.id)
  return [...line]
}

async function above({ taskOf }: Link): Promise<Link | undefined> {
  if (!taskOf) return undefined
  try {
    return await SessionRecord.get(taskOf.sessionId)
  } catch (error) {
    if (error instanceof SessionRecord.NotFound || error instanceof SessionRecord.Invalid) return undefined
    throw error
  }
}
