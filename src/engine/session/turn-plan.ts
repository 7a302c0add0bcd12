// A plan belongs to the messages that made it. When a session reverts or switches branches, its plan becomes the one of the
// messages there. A plan that no message made stays.
import * as TodoList from "#ability/plan/todo-list.ts"
import { pathTo } from "#engine/record/history.ts"
import { isList, planIn } from "#engine/record/plan-nodes.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

/** Must be called after the messages have changed. */
export async function turnPlan(sessionId: string, branch: string): Promise<void> {
  const messages = await MessageStore.list(sessionId)
  if (messages.some(isList)) await TodoList.replace(sessionId, planIn(pathTo(messages, branch)))
}
