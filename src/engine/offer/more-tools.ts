// Tools that a request does not name: `tool_search` finds them, and the model calls them through it. Such a call is
// replaced by the real one before it is judged, so that messages, questions and rules see only the real tool.

import type { FoundTool } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import type { Answer } from "#engine/model/collect.ts"
import type { Run } from "#engine/run/run.ts"
import type { Why } from "#knowledge/index/create-item-index.ts"
import { addTools } from "./choose-tools.ts"
import { searchSpread } from "./discover-tools.ts"

type Call = Answer["calls"][number]

const leastMeaning = 0.25

/** Searches the tools that the request does not name. Those that are found are named from the next request on, as far as
 * the budget allows. */
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

/** Whether a result shares a word with the query or is close in meaning: a vector search always has results. */
function isNear({ text, vector }: Why): boolean {
  return text !== undefined || (vector?.score ?? 0) >= leastMeaning
}

export function realCalls(run: Run, calls: Call[]): Call[] {
  const { usable } = run.offer.more!
  const real = calls.map((call) => realCall(call, usable))
  // A tool that was called is likely to be called again, so the next requests name it.
  addTools(
    run,
    real.flatMap(({ name }) => usable.get(name) ?? []),
  )
  return real
}

/** The call that `tool_search` stands for. If it names no tool of the agent, it stays as it is, and the gate reports it. */
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
