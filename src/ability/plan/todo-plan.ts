// A task list as relations: one plan, and a step for each item, below the plan and below the steps that it waits for.
// A step without an id gets a number.
import { z } from "zod"
import * as Log from "#kernel/process/log.ts"
import type { NodeContext, RelationNode } from "#knowledge/relation/relation-node.ts"
import { createRelationStore, type RelationStoreConfig } from "#knowledge/relation/relation-store.ts"
import { NamedError } from "#util/error.ts"
import { type Change, type Item, Plan } from "./todo-item.ts"

type Quarantined = Parameters<NonNullable<RelationStoreConfig["onQuarantine"]>>[0]
/** `after`: ids, or texts that still have to be resolved. */
type Step = { id: string; text: string; status: Item["status"]; after: string[]; createdAt: number }

export const planId = "plan:1"
const untitled = "Tasks"
const maxItems = 200

class TooMany extends NamedError {
  constructor(count: number) {
    super(
      "Todo.TooMany",
      `A list has at most ${maxItems} items, this one would have ${count}. Replace it by a shorter one.`,
    )
  }
}

class UnknownItem extends NamedError {
  constructor(step: Step, name: string, ids: string[]) {
    const known = ids.length ? `Ids: ${ids.slice(0, 20).join(", ")}.` : "No item has an id yet."
    super(
      "Todo.UnknownItem",
      `"${step.text}" is to come after "${name}", which is neither the id nor the text of an item. ${known}`,
    )
  }
}

/** The valid nodes of a stored record, whose content is not trusted. */
export function checkedNodes(nodes: unknown): RelationNode[] {
  if (Array.isArray(nodes)) return createRelationStore({ initialNodes: nodes }).all()
  Log.warn("the relations of a session cannot be read and were left out")
  return []
}

/** Checks imported nodes. Throws unless the tool could have written them. */
export function importNodes(nodes: RelationNode[]): RelationNode[] {
  if (nodes.length > maxItems + 1) throw new TooMany(nodes.length - 1)
  const store = createRelationStore({
    initialNodes: nodes,
    onQuarantine: ([first]) => {
      throw first!.error
    },
  })
  const checked = Plan.safeParse(planOf(nodes))
  if (!checked.success) throw new Error(z.prettifyError(checked.error).replaceAll("\n", " "))
  const made = changePlan([], checked.data)
  const isBelow = stepsOf(nodes).length === store.children(planId).length
  if (made.length === store.size() && isBelow) return store.all()
  throw new Error("its relations are not one plan with its steps")
}

export function planOf(nodes: readonly RelationNode[]): Plan {
  const title = nodes.find(({ id }) => id === planId)?.context.description ?? untitled
  const steps = stepsOf(nodes)
  const nameOf = (id: string) => (isNumber(id) ? (steps.find((step) => step.id === id)?.text ?? id) : id)
  const todos = steps.map(({ id, text, status, after }) => ({
    text,
    status,
    ...(isNumber(id) ? {} : { id }),
    ...(after.length ? { after: after.map(nameOf) } : {}),
  }))
  return { ...(title === untitled ? {} : { title }), todos }
}

/** Throws if the items are too many, wait for each other, or wait for a missing one. */
export function changePlan(before: readonly RelationNode[], change: Change): RelationNode[] {
  const { todos = [], replace, title } = change
  if (todos.length > maxItems) throw new TooMany(todos.length)
  const old = replace ? [] : checkedNodes(before)
  const steps = merge(stepsOf(old), todos)
  if (steps.length > maxItems) throw new TooMany(steps.length)
  const description = title?.trim() ?? old.find(({ id }) => id === planId)?.context.description ?? untitled
  if (!steps.length && description === untitled) return []
  const plan: RelationNode = {
    id: planId,
    parents: [],
    edgeType: "plan",
    context: { description, status: statusOf(steps) },
    createdAt: old.find(({ id }) => id === planId)?.createdAt ?? Date.now(),
  }
  const store = createRelationStore({
    initialNodes: [plan, ...steps.map((step) => nodeOf(step, steps))],
    onQuarantine: (aside) => refuse(aside, steps),
  })
  return store.all()
}

function stepsOf(nodes: readonly RelationNode[]): Step[] {
  return nodes
    .filter(({ edgeType }) => edgeType === "step")
    .map(({ id, parents, context, createdAt }) => ({
      id,
      text: context.description,
      status: context.status === "in_progress" || context.status === "done" ? context.status : "pending",
      after: parents.filter((parent) => parent !== planId),
      createdAt,
    }))
}

/** Models repeat a text with other blanks and capitals; it is the same item, and keeps its place. */
function merge(old: Step[], items: Item[]): Step[] {
  const steps = [...old]
  let number = Math.max(0, ...old.map(({ id }) => (isNumber(id) ? Number(id.slice(1)) : 0)))
  for (const { id, text, status, after } of items) {
    const named = id === undefined ? undefined : steps.find((step) => step.id === id)
    const found = named ?? steps.find((step) => isSame(step, text) && (id === undefined || isNumber(step.id)))
    const made: Step = {
      id: id ?? found?.id ?? `#${++number}`,
      text: found && !named ? found.text : text.trim(),
      status,
      after: after ?? found?.after ?? [],
      createdAt: found?.createdAt ?? Date.now(),
    }
    if (found) steps[steps.indexOf(found)] = made
    else steps.push(made)
    if (found && found.id !== made.id) rename(steps, found.id, made.id)
  }
  return steps
}

function rename(steps: Step[], from: string, to: string): void {
  for (const step of steps) step.after = step.after.map((id) => (id === from ? to : id))
}

function nodeOf(step: Step, steps: readonly Step[]): RelationNode {
  const { id, text, status, createdAt } = step
  const after = step.after.map((name) => {
    const found = steps.find((other) => other.id === name) ?? steps.find((other) => isSame(other, name))
    if (found) return found.id
    throw new UnknownItem(
      step,
      name,
      steps.map((other) => other.id).filter((one) => !isNumber(one)),
    )
  })
  return {
    id,
    parents: [planId, ...after],
    edgeType: "step",
    context: { description: text, status },
    createdAt,
  }
}

function statusOf(steps: readonly Step[]): NonNullable<NodeContext["status"]> {
  if (steps.length && steps.every(({ status }) => status === "done")) return "done"
  return steps.some(({ status }) => status !== "pending") ? "in_progress" : "pending"
}

function refuse(aside: Quarantined, steps: readonly Step[]): void {
  const round = aside.find(({ error }) => error.name === "RelationStore.Cycle")?.error.data.path
  if (!round) throw aside[0]!.error
  const nameOf = (id: string) => (isNumber(id) ? `"${steps.find((step) => step.id === id)?.text}"` : id)
  throw new NamedError(
    "Todo.Circular",
    `Items wait for each other: ${(round as string[]).map(nameOf).join(" → ")}. Take one out of an \`after\`.`,
  )
}

function isSame(step: Step, text: string): boolean {
  return sameness(step.text) === sameness(text)
}

function sameness(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase()
}

function isNumber(id: string): boolean {
  return /^#\d{1,9}$/.test(id)
}
