// Which tools a request names. The built-in ones always; of servers and projects all where that costs little, else those
// that fit what the person wants, and `tool_search` for the others. What a session was once sent it is sent again, in the
// same order: the list grows at its end, and prompt caches hold.
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Log from "#kernel/log.ts"
import { estimateTokens } from "#knowledge/memory/estimate-tokens.ts"
import { errorText } from "#util/error.ts"
import { keep, type Run } from "./run.ts"
import * as SessionRecord from "./session-record.ts"

type ModelTool = Run["tools"][number]
/** What there is beyond the list of a run. */
export type More = {
  /** All that the agent may use, by id. */
  usable: ReadonlyMap<string, Definition>
  /** What the definitions in the list cost beyond the built-in ones. */
  tokens: number
}
type Chosen = { tools: ModelTool[]; more: More }

/** Tokens beyond the built-in tools: what a first request may have, and any. OpenAI and others take 128 tools at most; no
 * definition is so short that there could be as many. */
const budget = 3_000
const cap = 6_000
/** How many are found for the first words of a session. Later ones cost the cache of all that was said. */
const atFirst = 10
const later = 3
const candidates = 50
const maxServersNamed = 20
const searchId = "tool_search"

export async function chooseTools(
  run: Pick<Run, "session" | "records">,
  { usable, intent }: { usable: Definition[]; intent: string },
): Promise<{ tools: ModelTool[]; more?: More }> {
  const { session } = run
  const chosen = sentBefore(session, usable)
  const { tools } = chosen
  const others = usable.filter((tool) => !ToolRegistry.isBase(tool))
  if (isCheap(others)) {
    for (const tool of others) add(chosen, tool, cap)
    // Kept when the prompt is over: lost, they are all sent again anyway.
    note(session, chosen)
    return { tools }
  }
  const isFirst = !session.offered
  if (!hasTool(chosen, searchId)) push(chosen, searchForm(others))
  const found = await discover(intent, others)
  let room = isFirst ? atFirst : later
  for (const tool of found) {
    if (room <= 0) break
    // One that was there before has its place among the best all the same.
    if (hasTool(chosen, tool.id) || add(chosen, tool, isFirst ? budget : cap)) room--
  }
  remember(run, chosen)
  return chosen
}

/** What requests of a session have named so far, of what there is now. */
export function sentBefore(session: SessionRecord.Info, usable: Definition[]): Chosen {
  const base = usable.filter(ToolRegistry.isBase).map(({ id }) => id)
  const byId = new Map(usable.map((tool) => [tool.id, tool]))
  const tools = [...ToolRegistry.toModelTools(base)] as ModelTool[]
  const chosen: Chosen = { tools, more: { usable: byId, tokens: 0 } }
  for (const id of session.offered ?? []) {
    const tool = byId.get(id)
    if (tool) add(chosen, tool, cap)
    else if (id === searchId) push(chosen, searchForm([...byId.values()]))
  }
  return chosen
}

/** Put tools at the end of the list, as far as there is room for them. */
export function addTools(run: Run, tools: readonly Definition[]): void {
  if (!run.more) return
  const { tokens } = run.more
  for (const tool of tools) add({ tools: run.tools, more: run.more }, tool, cap)
  if (run.room) run.room.fixed += run.more.tokens - tokens
  remember(run, { tools: run.tools, more: run.more })
}

/** The best first. Without any where the index fails: the tools can still be asked for. */
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

function isCheap(others: Definition[]): boolean {
  let tokens = 0
  for (const tool of others) {
    tokens += tokensOf(formOf(tool))
    if (tokens > budget) return false
  }
  return true
}

function add(chosen: Chosen, tool: Definition, limit: number): boolean {
  if (hasTool(chosen, tool.id)) return false
  const form = formOf(tool)
  if (chosen.more.tokens + tokensOf(form) > limit) return false
  push(chosen, form)
  return true
}

function push({ tools, more }: Chosen, form: ModelTool): void {
  tools.push(form)
  more.tokens += tokensOf(form)
}

function hasTool({ tools }: Pick<Chosen, "tools">, id: string): boolean {
  return tools.some(({ name }) => name === id)
}

function formOf({ id }: Pick<Definition, "id">): ModelTool {
  return ToolRegistry.toModelTools([id])[0] as ModelTool
}

/** A model that does not know of a server does not look for its tools. */
function searchForm(others: Definition[]): ModelTool {
  const servers = [...new Set(others.flatMap(({ server }) => server ?? []))].sort()
  const form = formOf({ id: searchId })
  const more = servers.length > maxServersNamed ? ", …" : ""
  const named = `${servers.slice(0, maxServersNamed).join(", ")}${more}`
  return Object.freeze({
    ...form,
    description: servers.length ? `${form.description} There are tools of: ${named}.` : form.description,
  }) as ModelTool
}

/** In the longest of the forms that providers take. */
function tokensOf({ type, name, description, inputSchema: parameters }: ModelTool): number {
  return estimateTokens(JSON.stringify({ type, function: { name, description, parameters } }))
}

/** In the record of the session, so that it is the same list after a restart and a compaction. */
function remember({ session, records }: Pick<Run, "session" | "records">, chosen: Chosen): void {
  if (!note(session, chosen)) return
  const { offered } = session
  keep(
    records,
    SessionRecord.update(session, (draft) => Object.assign(draft, { offered })),
  )
}

/** Gives whether something is new. */
function note(session: SessionRecord.Info, { tools, more }: Chosen): boolean {
  const isBase = ({ name }: ModelTool) => {
    const tool = more.usable.get(name)
    return tool !== undefined && ToolRegistry.isBase(tool)
  }
  const now = tools.filter((tool) => !isBase(tool)).map(({ name }) => name)
  const before = session.offered ?? []
  // One whose server is gone keeps its place for when it comes back.
  const offered = [...before, ...now.filter((name) => !before.includes(name))]
  if (offered.length === before.length) return false
  session.offered = offered
  return true
}
