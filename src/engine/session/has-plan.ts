// A quick look whether a session ever wrote a plan: only then is it worth looking for one.
import * as Memory from "#knowledge/memory/memory.ts"

/** By the messages that the session has in mind. */
export function hasPlan(sessionId: string): boolean {
  const messages = Memory.shortTerm(sessionId).messages()
  return messages.some(({ type, data }) => type === "tool_result" && data.toolName === "todo")
}
