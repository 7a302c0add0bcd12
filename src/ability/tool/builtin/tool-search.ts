// The `tool_search` tool: finds tools that are not sent with every request. It never runs one: a call through it is
// replaced by the call of the real tool before it is judged, so a call that arrives here could not be replaced.
import { z } from "zod"
import type { Context, Definition, FoundTool, Output } from "#ability/call/types.ts"
import { NamedError } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import { descriptions } from "./descriptions.ts"

const usualLimit = 5
const shortDescription = 200
const longDescription = 1_500

const Parameters = z
  .strictObject({
    query: z.string().optional(),
    limit: z.int().min(1).max(20).optional(),
    call: z.string().optional().describe("the name of a tool that was found"),
    // Some models send it as a string; it is never read here.
    arguments: z.unknown().meta({ type: "object" }).optional(),
  })
  // Some models send all parameters, and leave those that they do not use empty.
  .refine(({ query, call }) => query?.trim() || call, {
    path: ["query"],
    message: "expected what to look for, or the tool to call",
  })
type Args = z.infer<typeof Parameters>

class NotReachable extends NamedError {
  constructor(id: string) {
    const what = `${JSON.stringify(id)} cannot be called by tool_search: no tool of yours has this name`
    super("Tool.NotReachable", `${what}. A search with "query" gives the names.`, { id })
  }
}

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { query: "create a GitHub issue" },
  arguments: {
    query: "What must be done.",
    limit: `Tools to show; without it ${usualLimit}.`,
    call: "Tool that was found, to call it.",
    arguments: "Its arguments.",
  },
  limits: "It is offered only if there are tools that the request does not include.",
}

export const toolSearch = {
  id: "tool_search",
  routingName: "search_tools",
  description: descriptions.tool_search,
  category: "search",
  parameters: Parameters,
  readOnly: true,
  onlyNamed: true,
  execute,
} satisfies Definition

async function execute({ query, limit = usualLimit, call }: Args, { findTools }: Context): Promise<Output> {
  if (call) throw new NotReachable(call)
  if (!findTools) return { text: "There are no other tools than those that you have." }
  const found = await findTools(query!, limit)
  const hint = found.some(({ listed }) => !listed)
    ? '\n\nCall one that is shown with parameters by tool_search { "call": its name, "arguments": {…} }.'
    : ""
  return {
    text: (found.map(show).join("\n") || "No other tool fits. Try other words.") + hint,
    title: `${query} (${found.length})`,
    data: { found: found.map(({ id }) => id) },
  }
}

/** A listed tool is shown without parameters, because the next request describes it. */
function show({ id, description, parameters, listed }: FoundTool): string {
  if (listed)
    return `${id} (now among your tools): ${plainText(description.trim().split("\n", 1)[0]!, shortDescription)}`
  // Text of a server must not look like the next entry.
  const text = plainText(description, longDescription).replaceAll("\n", "\n    ")
  return `${id}: ${text}\n  parameters: ${JSON.stringify(parameters)}`
}
