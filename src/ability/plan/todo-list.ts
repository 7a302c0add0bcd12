// The task list of a session, or its plan if the items have an order. Stored as relations: a plan, with steps below
// it and below the steps that they wait for. It is changed under the lock of the store, because several processes may
// work on one session, and published after the write.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type { RelationNode } from "#knowledge/relation/relation-node.ts"
import { about } from "#util/about.ts"
import { type Change, Item, type Plan } from "./todo-item.ts"

export { Item, Plan } from "./todo-item.ts"

export const Updated = Bus.define(
  "todo.updated",
  z.object({ sessionId: z.string(), todos: about("The whole list.", z.array(Item)) }),
  { when: "The task list or plan of a session changed." },
)

type Stored = { nodes: RelationNode[] }

const marks = { pending: "[ ]", in_progress: "[>]", done: "[x]" }

/** Empty if there is none. */
export async function get(sessionId: string): Promise<Item[]> {
  return (await plan(sessionId)).todos
}

/** The list with its title. */
export async function plan(sessionId: string): Promise<Plan> {
  const { planOf } = await import("./todo-plan.ts")
  return planOf(await nodes(sessionId))
}

/** The stored relations that are valid. */
export async function nodes(sessionId: string): Promise<RelationNode[]> {
  const stored = await read<Stored>(key(sessionId))
  const { checkedNodes } = await import("./todo-plan.ts")
  return stored ? checkedNodes(stored.nodes) : []
}

/** Whether the session has a stored list. */
export async function isKept(sessionId: string): Promise<boolean> {
  return (await read(key(sessionId))) !== undefined
}

/** Merge items into the list by id or text, or replace the list. Returns the whole list. */
export async function update(
  sessionId: string,
  todos: Item[],
  change: Omit<Change, "todos"> = {},
): Promise<Plan> {
  const { changePlan, planOf } = await import("./todo-plan.ts")
  const { nodes } = await Storage.update<Stored>(
    key(sessionId),
    (draft) => {
      draft.nodes = changePlan(draft.nodes, { ...change, todos })
    },
    { initial: { nodes: [] } },
  )
  const plan = planOf(nodes)
  Bus.publish(Updated, { sessionId, todos: plan.todos })
  return plan
}

/** Store relations unchanged, for forks and imports. */
export async function write(sessionId: string, nodes: RelationNode[]): Promise<void> {
  if (nodes.length) await Storage.write(key(sessionId), { nodes })
}

/** Replace the plan by another one, or by none. */
export async function replace(sessionId: string, nodes: RelationNode[]): Promise<void> {
  if (nodes.length) await write(sessionId, nodes)
  else await remove(sessionId)
  Bus.publish(Updated, { sessionId, todos: await get(sessionId) })
}

export async function remove(sessionId: string): Promise<void> {
  await Storage.remove(key(sessionId))
}

/** As text for the model. */
export function describe({ title, todos }: Plan): string {
  const lines = todos.map(({ text, status, id, after = [] }) => {
    const name = id === undefined ? "" : `${id}: `
    return `${marks[status]} ${name}${text}${after.length ? ` (after ${after.join(", ")})` : ""}`
  })
  return [...(title === undefined ? [] : [`Plan: ${title}`]), ...lines].join("\n") || "(nothing to do)"
}

async function read<T>(key: string[]): Promise<T | undefined> {
  try {
    return await Storage.read<T>(key)
  } catch (error) {
    if (error instanceof Storage.NotFound) return undefined
    if (!(error instanceof Storage.Corrupt)) throw error
    // The record is in quarantine; the messages of the session still show the list.
    Log.warn("the task list of a session is broken", { error: error.message })
    return undefined
  }
}

function key(sessionId: string): string[] {
  return ["relation", sessionId]
}
