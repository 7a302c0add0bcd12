// A plan belongs to the messages that made it: when a session goes back to earlier ones, or over to another branch, its
// plan is what it was there. One that came without messages stays.
import * as TodoList from "#ability/tool/plan/todo-list.ts"
import { pathTo } from "#engine/record/history.ts"
import { isList, planIn } from "#engine/record/plan-nodes.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

/** To be called when the messages are as they will be. */
export async function turnPlan(sessionId: string, branch: string): Promise<void> {
  const messages = await MessageStore.list(sessionId)
  if (messages.some(isList)) await TodoList.replace(sessionId, planIn(pathTo(messages, branch)))
}
