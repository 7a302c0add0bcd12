// The plan of a session as relations, from its record. A session without that record (an import) has its plan only in its
// messages: the last one that shows it counts.
import * as TodoList from "#ability/plan/todo-list.ts"
import { changePlan } from "#ability/plan/todo-plan.ts"
import * as Log from "#kernel/process/log.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import type { RelationNode } from "#knowledge/relation/relation-node.ts"
import { errorText } from "#util/error.ts"
import { pathTo } from "./history.ts"

export async function planNodes(
  sessionId: string,
  messages: readonly Message.Info[],
): Promise<RelationNode[]> {
  const nodes = await TodoList.nodes(sessionId)
  return nodes.length ? nodes : planIn(messages)
}

/** The plan after these messages. An imported session may contain an invalid plan. */
export function planIn(messages: readonly Message.Info[]): RelationNode[] {
  const last = messages.findLast(isList)
  const { success, data } = TodoList.Plan.safeParse(last && Message.dataOf(last.data))
  try {
    return success ? changePlan([], data) : []
  } catch (error) {
    Log.warn("a plan that is shown in a session cannot be used", { error: errorText(error) })
    return []
  }
}

/** Whether a message shows the whole list. */
export function isList(message: Message.Info): message is Message.Of<"tool_result"> {
  const { type, data } = message
  return type === "tool_result" && data.toolName === "todo" && data.status === "success"
}

/** A plan belongs to the messages that made it: after a revert or a switch of branches, the plan becomes the one of the
 * messages there. A plan that no message made stays. Must be called after the messages have changed. */
export async function restorePlan(sessionId: string, branch: string): Promise<void> {
  const messages = await MessageStore.list(sessionId)
  if (messages.some(isList)) await TodoList.replace(sessionId, planIn(pathTo(messages, branch)))
}
