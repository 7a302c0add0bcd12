// The `todo` tool: shows and changes the task list of the session.
import { z } from "zod"
import * as TodoList from "../todo-list.ts"
import type { Context, Definition, Output } from "../tool.ts"
import { descriptions } from "./descriptions.ts"

const Parameters = z
  .strictObject({ todos: z.array(TodoList.Item).optional(), replace: z.boolean().optional() })
  .refine(({ todos, replace }) => todos !== undefined || !replace, {
    path: ["todos"],
    message: "expected the new list where replace is true (an empty one clears it)",
  })
type Args = z.infer<typeof Parameters>

const marks = { pending: "[ ]", in_progress: "[>]", done: "[x]" }

export const todo = {
  id: "todo",
  description: descriptions.todo,
  category: "utility",
  parameters: Parameters,
  readOnly: false,
  permission: () => [{ permission: "todo", target: "*" }],
  execute,
} satisfies Definition

async function execute({ todos = [], replace = false }: Args, { sessionId }: Context): Promise<Output> {
  const isChange = replace || todos.length > 0
  const list = await (isChange ? TodoList.update(sessionId, todos, { replace }) : TodoList.get(sessionId))
  const done = list.filter(({ status }) => status === "done").length
  return {
    text: list.map(({ text, status }) => `${marks[status]} ${text}`).join("\n") || "(nothing to do)",
    title: `${done} of ${list.length} done`,
    data: { todos: list },
  }
}
