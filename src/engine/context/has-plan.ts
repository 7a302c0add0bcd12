// A quick check whether a session ever wrote a plan: only then is it worth looking for one.
import * as Memory from "#knowledge/memory/memory.ts"

/** By the messages that the session has in memory; if older ones were compacted, by the record of the plan. */
export async function hasPlan(sessionId: string): Promise<boolean> {
  const messages = Memory.shortTerm(sessionId).messages()
  if (messages.some(({ type, data }) => type === "tool_result" && data.toolName === "todo")) return true
  if (!messages[0]?.parentId) return false
  const TodoList = await import("#ability/tool/plan/todo-list.ts")
  return TodoList.isKept(sessionId)
}
