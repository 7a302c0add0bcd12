// Converts the task list of a session into the entries of an ACP plan.
import type { PlanEntry } from "@agentclientprotocol/sdk"
import type { Item } from "#ability/plan/todo-list.ts"

const states = { pending: "pending", in_progress: "in_progress", done: "completed" } as const
const maxEntries = 500

/** The whole list: an editor replaces the plan that it had. */
export function planEntries(todos: readonly Item[]): PlanEntry[] {
  return todos
    .slice(0, maxEntries)
    .map(({ text, status }) => ({ content: text, priority: "medium", status: states[status] }))
}
