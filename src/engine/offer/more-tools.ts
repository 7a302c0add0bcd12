// The tools of an agent that a request does not name: found by `tool_search`, and called by its way. Such a call is made
// the one that it stands for before anybody judges it, so that messages, questions and rules know the real tool only.
import type { Why } from "#ability/mcp/registry/create-catalog.ts"
import * as ToolRegistry from "#ability/tool/gate/tool-registry.ts"
import type { FoundTool } from "#ability/tool/tool.ts"
import type { Answer } from "#engine/ask/collect.ts"
import type { Run } from "#engine/run/run.ts"
import { addTools } from "./choose-tools.ts"
import { searchSpread } from "./discover-tools.ts"

type Call = Answer["calls"][number]

const leastMeaning = 0.25

/** What is found is in the list from the next request on, as far as there is room. */
export async function findMore(
  run: Run,
  { query, limit }: { query: string; limit: number },
): Promise<FoundTool[]> {
  const others = [...run.offer.more!.usable.values()].filter((tool) => !ToolRegistry.isBase(tool))
  const found = await searchSpread(query, { tools: others, limit, isNear })
  addTools(run, found)
  const listed = new Set(run.offer.tools.map(({ name }) => name))
  return found.map((tool) => ({
    id: tool.id,
    description: tool.description,
    parameters: ToolRegistry.schemaOf(tool),
    listed: listed.has(tool.id),
  }))
}

/** Something is always the nearest. Without a shared word it must be near by what it means. */
function isNear({ text, vector }: Why): boolean {
  return text !== undefined || (vector?.score ?? 0) >= leastMeaning
}

export function realCalls(run: Run, calls: Call[]): Call[] {
  const { usable } = run.offer.more!
  const real = calls.map((call) => realCall(call, usable))
  // A tool that is called once is called again.
  addTools(
    run,
    real.flatMap(({ name }) => usable.get(name) ?? []),
  )
  return real
}

/** Left as it is where it names no tool of the agent: its result says so. */
function realCall(call: Call, usable: ReadonlyMap<string, unknown>): Call {
  if (call.name !== "tool_search") return call
  const given = parse(call.input)
  const { call: name, arguments: args = {} } = given
  if (typeof name !== "string" || !usable.has(name)) return call
  return { ...call, name, input: typeof args === "string" ? args : JSON.stringify(args) }
}

function parse(input: string): { call?: unknown; arguments?: unknown } {
  try {
    const value: unknown = JSON.parse(input)
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}
