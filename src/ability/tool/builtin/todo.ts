// The `todo` tool: shows and changes the task list, or plan, of the session.
import { z } from "zod"
import * as TodoList from "../todo-list.ts"
import type { Context, Definition, Output } from "../tool.ts"
import { descriptions } from "./descriptions.ts"

const Parameters = z
  .strictObject({
    todos: TodoList.Plan.shape.todos.optional(),
    replace: z.boolean().optional(),
    title: TodoList.Plan.shape.title,
  })
  .refine(({ todos, replace }) => todos !== undefined || !replace, {
    path: ["todos"],
    message: "expected the new list where replace is true (an empty one clears it)",
  })
type Args = z.infer<typeof Parameters>

export const todo = {
  id: "todo",
  description: descriptions.todo,
  category: "utility",
  parameters: Parameters,
  readOnly: false,
  permission: () => [{ permission: "todo", target: "*" }],
  execute,
} satisfies Definition

async function execute(
  { todos = [], replace = false, title }: Args,
  { sessionId }: Context,
): Promise<Output> {
  const isChange = replace || todos.length > 0 || title !== undefined
  const plan = await (isChange
    ? TodoList.update(sessionId, todos, { replace, title })
    : TodoList.plan(sessionId))
  const done = plan.todos.filter(({ status }) => status === "done").length
  return {
    text: TodoList.describe(plan),
    title: `${done} of ${plan.todos.length} done`,
    data: plan,
  }
}
