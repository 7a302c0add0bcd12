// The task list of a session as a plan of an editor.
import type { PlanEntry } from "@agentclientprotocol/sdk"
import type { Item } from "#ability/plan/todo-list.ts"

const states = { pending: "pending", in_progress: "in_progress", done: "completed" } as const
const maxEntries = 500

/** The whole list: an editor puts it in the place of the one before. */
export function planEntries(todos: readonly Item[]): PlanEntry[] {
  return todos
    .slice(0, maxEntries)
    .map(({ text, status }) => ({ content: text, priority: "medium", status: states[status] }))
}
