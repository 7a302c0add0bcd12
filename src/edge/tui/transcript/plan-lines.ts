// The plan of a session as a checklist.
import type { Plan, TodoUpdatedEvent } from "#client/client.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"

export type Todo = TodoUpdatedEvent["payload"]["todos"][number]

/** The steps of a stored plan. */
export function todosOf({ nodes }: Plan): Todo[] {
  const steps = nodes.filter(({ edgeType }) => edgeType === "step")
  return steps.map(({ context: { description, status = "pending" } }) => ({
    text: status === "failed" ? `${description} (failed)` : description,
    status: status === "failed" ? "pending" : status,
  }))
}

export function planLines(todos: readonly Todo[], { columns, paint }: View): Line[] {
  return todos.flatMap((todo) => wrapTo(`${markOf(todo, paint)} ${wordsOf(todo, paint)}`, columns, 2))
}

/** One line for each item, at most `most` lines: around the first item that is not done. */
export function shortPlan(todos: readonly Todo[], view: View, most: number): Line[] {
  const { columns, paint } = view
  const first = Math.max(
    0,
    todos.findIndex(({ status }) => status !== "done"),
  )
  const isCut = todos.length > most
  const from = isCut ? Math.min(Math.max(0, first - 1), todos.length - most + 1) : 0
  const shown = todos.slice(from, isCut ? from + Math.max(1, most - 1) : undefined)
  const lines = shown.map((todo) => cutTo(`${markOf(todo, paint)} ${wordsOf(todo, paint)}`, columns))
  if (!isCut) return lines
  const done = todos.filter(({ status }) => status === "done").length
  return [...lines, paint("dim", cutTo(`  ${done} of ${todos.length} done`, columns))]
}

function markOf({ status }: Todo, paint: View["paint"]): string {
  if (status === "done") return paint("success", "☑")
  return status === "in_progress" ? paint("accent", "▶") : "☐"
}

function wordsOf({ status, text }: Todo, paint: View["paint"]): string {
  const line = safeLine(text)
  if (status === "done") return paint("dim", line)
  return status === "in_progress" ? paint("strong", line) : line
}
