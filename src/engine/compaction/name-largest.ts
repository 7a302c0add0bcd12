// Names the largest part of a request that does not fit, so that the person can make it smaller.
import { ContextFull } from "#engine/run/budget.ts"
import { tokensOf } from "#knowledge/memory/tokens.ts"
import type * as Message from "#knowledge/message/message.ts"

/** The error for a request with these messages and `fixed` tokens besides. */
export function refuseFull(
  request: { fixed: number; limit: number; sent: readonly Message.Info[] },
  cause?: unknown,
): ContextFull {
  const { fixed, limit, sent } = request
  const tokens = sent.reduce((sum, message) => sum + tokensOf(message), fixed)
  return new ContextFull({ limit, tokens, largest: nameLargest(fixed, sent) }, cause)
}

function nameLargest(fixed: number, sent: readonly Message.Info[]): string {
  const largest = sent.toSorted((a, b) => tokensOf(b) - tokensOf(a))[0]
  if (!largest || fixed >= tokensOf(largest))
    return `the system prompt with the tools (about ${fixed} tokens)`
  return `${nameOf(largest)} (about ${tokensOf(largest)} tokens)`
}

function nameOf(message: Message.Info): string {
  switch (message.type) {
    case "text":
      return message.data.role === "user" ? "the text of the prompt" : "an answer of the model"
    case "tool_request":
      return `a call to ${message.data.calls.map(({ name }) => `"${name}"`).join(", ")}`
    case "tool_result":
      return `a result of "${message.data.toolName}"`
    case "file_reference":
      return `the file ${message.data.path}`
    case "image":
      return "an image"
    case "mcp_resource":
      return `the resource ${message.data.resourceUri}`
    default:
      return "a message"
  }
}
