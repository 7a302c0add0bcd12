// Chooses the tools that a request names: always the built-in ones; all tools of servers and projects if that costs
// little, else those that fit the prompt, and `tool_search` for the others. A session keeps its list in the same
// order, and the list grows only at its end, so that prompt caches stay valid.
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { keep } from "#engine/record/append.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { More, Offer, Run } from "#engine/run/run.ts"
import * as Log from "#kernel/process/log.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { errorText } from "#util/error.ts"

type ModelTool = Offer["tools"][number]
type Chosen = { tools: ModelTool[]; more: More }
/** All tools that the agent may use, and the token budget of a request. */
type From = { usable: Definition[]; limit: number }
/** With the servers that `tool_search` named when it was first sent. */
type FromNamed = From & { named: string[] | undefined }

/** The most tokens for tools beyond the built-in ones: in the first request (`budget`), and in any request (`cap`).
 * Within the cap, a list stays below the 128 tools that OpenAI and others accept. */
const budget = 3_000
const cap = 6_000
/** The share of the token budget of a request that these tools may use. */
const share = 0.2
/** How many tools are added for the first prompt of a session, and for a later one, which invalidates the prompt
 * cache. */
const atFirst = 10
const later = 3
const candidates = 50
const maxServersNamed = 20
const searchId = "tool_search"

export async function chooseTools(
  run: Pick<Run, "session" | "progress"> & { offer?: Offer },
  { intent, ...from }: From & { intent: string },
): Promise<{ tools: ModelTool[]; more?: More }> {
  const { session } = run
  const named = session.toolServers
  const chosen = run.offer ? withBudget(run.offer.tools, { ...from, named }) : sentBefore(session, from)
  const { tools, more } = chosen
  // A tool may have gone while this code was loaded.
  const others = from.usable.filter((tool) => !ToolRegistry.isBase(tool) && ToolRegistry.find(tool.id))
  if (isCheap(others, Math.min(budget, more.cap)) && others.every((tool) => add(chosen, tool))) {
    // The session is stored when the prompt is over. If that is lost, the same tools are chosen again.
    note(session, chosen)
    return hasTool(chosen, searchId) ? chosen : { tools }
  }
  const isFirst = !session.offered?.some((id) => id !== searchId)
  session.toolServers ??= serversOf(others)
  const form = searchForm(session.toolServers)
  if (!hasTool(chosen, searchId)) tools.push(form)
  const found = await discover(intent, others)
  const most = isFirst ? Math.min(budget - tokensOf(form), more.cap) : more.cap
  let left = isFirst ? atFirst : later
  for (const tool of found) {
    if (left <= 0) break
    // A tool that is already in the list still counts as one of the best.
    if (add(chosen, tool, most)) left--
  }
  remember(run, chosen)
  return chosen
}

/** The tools that requests of this session have named so far and that still exist. */
export function sentBefore(session: SessionRecord.Info, from: From): Chosen {
  const base = from.usable.filter(ToolRegistry.isBase).map(({ id }) => id)
  const named = session.toolServers
  const chosen = withBudget([...ToolRegistry.toModelTools(base)] as ModelTool[], { ...from, named })
  for (const id of session.offered ?? []) {
    const tool = chosen.more.usable.get(id)
    if (tool) add(chosen, tool)
    else if (id === searchId && !hasTool(chosen, id))
      chosen.tools.push(searchForm(named ?? serversOf(from.usable)))
  }
  return chosen
}

/** A list with its budget. A tool in the list stays there unchanged, even if it has gone or changed. */
function withBudget(tools: ModelTool[], { usable, limit, named = serversOf(usable) }: FromNamed): Chosen {
  const more: More = {
    usable: new Map(usable.map((tool) => [tool.id, tool])),
    tokens: 0,
    cap: Math.min(cap, Math.floor(limit * share)) - tokensOf(searchForm(named)),
  }
  for (const tool of beyondBase({ tools, more })) if (tool.name !== searchId) more.tokens += tokensOf(tool)
  return { tools, more }
}

/** Append tools to the list as far as the budget allows. */
export function addTools(run: Run, tools: readonly Definition[]): void {
  if (!run.offer.more) return
  for (const tool of tools) add({ tools: run.offer.tools, more: run.offer.more }, tool)
  remember(run, { tools: run.offer.tools, more: run.offer.more })
}

/** The best first. Empty if the index fails: `tool_search` can still find them. */
async function discover(intent: string, tools: Definition[]): Promise<Definition[]> {
  if (!intent.trim()) return []
  try {
    const { discoverTools } = await import("./discover-tools.ts")
    return await discoverTools(intent, { tools, limit: candidates })
  } catch (error) {
    Log.warn("tools could not be searched", { error: errorText(error) })
    return []
  }
}

function isCheap(others: Definition[], most: number): boolean {
  let tokens = 0
  for (const tool of others) {
    tokens += tokensOf(formOf(tool))
    if (tokens > most) return false
  }
  return true
}

/** Returns whether the tool is in the list now. A tool that no longer exists is not added. */
function add(chosen: Chosen, tool: Definition, limit = chosen.more.cap): boolean {
  const { tools, more } = chosen
  if (hasTool(chosen, tool.id)) return true
  if (!ToolRegistry.find(tool.id)) return false
  const form = formOf(tool)
  const tokens = more.tokens + tokensOf(form)
  if (tokens > limit) return false
  tools.push(form)
  more.tokens = tokens
  return true
}

function hasTool({ tools }: Pick<Chosen, "tools">, id: string): boolean {
  return tools.some(({ name }) => name === id)
}

function formOf({ id }: Pick<Definition, "id">): ModelTool {
  return ToolRegistry.toModelTools([id])[0] as ModelTool
}

function serversOf(tools: Definition[]): string[] {
  return [...new Set(tools.flatMap(({ server }) => server ?? []))].sort()
}

/** A model that does not know of a server does not search for its tools. The list of servers stays as it was first
 * sent: a server that comes or goes would change the first bytes of every later request. */
function searchForm(servers: readonly string[]): ModelTool {
  const form = formOf({ id: searchId })
  const more = servers.length > maxServersNamed ? ", …" : ""
  const named = `${servers.slice(0, maxServersNamed).join(", ")}${more}`
  return Object.freeze({
    ...form,
    description: servers.length ? `${form.description} There are tools of: ${named}.` : form.description,
  }) as ModelTool
}

/** Counted in the longest form that any provider takes. */
function tokensOf({ type, name, description, inputSchema: parameters }: ModelTool): number {
  return estimateTokens(JSON.stringify({ type, function: { name, description, parameters } }))
}

/** Stored in the session record, so that the list survives a restart and a compaction. */
function remember({ session, progress }: Pick<Run, "session" | "progress">, chosen: Chosen): void {
  if (!note(session, chosen)) return
  const { offered, toolServers } = session
  keep(
    progress.records,
    SessionRecord.update(session, (draft) => Object.assign(draft, { offered, toolServers })),
  )
}

function beyondBase({ tools, more }: Chosen): ModelTool[] {
  return tools.filter(({ name }) => {
    const tool = more.usable.get(name)
    return !tool || !ToolRegistry.isBase(tool)
  })
}

/** Returns whether something is new. */
function note(session: SessionRecord.Info, chosen: Chosen): boolean {
  const now = beyondBase(chosen).map(({ name }) => name)
  const before = session.offered ?? []
  // A tool whose server is gone keeps its place for when the server comes back.
  const offered = [...before, ...now.filter((name) => !before.includes(name))]
  if (offered.length === before.length) return false
  session.offered = offered
  return true
}
