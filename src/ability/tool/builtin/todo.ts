// The `todo` tool: shows and changes the task list, or plan, of the session.
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
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

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { todos: [{ id: "1", text: "Read the tests", status: "done" }] },
  arguments: {
    todos: "Items to add or change, found by `id` or text. Without it the list is shown.",
    "todos[].text": "What is to be done.",
    "todos[].status": "How it stands.",
    "todos[].id": "Name of the item, for `after`.",
    "todos[].after": "Ids of items that come first.",
    replace: "Make the list exactly these items.",
    title: "Title of the plan.",
  },
  limits: "200 items of 2,000 characters.",
}

export const todo = {
  id: "todo",
  routingName: "task_todo",
  description: descriptions.todo,
  category: "utility",
  parameters: Parameters,
  readOnly: false,
  permission: () => [{ permission: "todo", target: "*" }],
  execute,
} satisfies Definition

async function execute(
  { todos = [], replace = false, title }: z.infer<typeof Parameters>,
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
