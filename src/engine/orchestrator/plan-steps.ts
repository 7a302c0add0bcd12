// Reads the plan that a planner wrote: one line for each step, `1. [agent] What to do (after 2, 3)`.
import type { Item } from "#ability/plan/todo-item.ts"

export type PlanStep = { id: string; agent?: string; text: string; after: string[] }

/** With the name of an agent, it must fit into the text of an item. */
const maxText = 1_900

/** The steps in the order of the text; empty if it has none. A reference to a step that is not there is left out. */
export function planSteps(text: string): PlanStep[] {
  const found = text.split("\n").flatMap((line) => readLine(line) ?? [])
  const steps = [...new Map(found.map((step) => [step.id, step])).values()]
  const ids = new Set(steps.map(({ id }) => id))
  return steps.map((step) => ({
    ...step,
    after: step.after.filter((id) => ids.has(id) && id !== step.id),
  }))
}

/** A step as an item of the task list. The agent is a part of the text, so that people see it too. */
export function itemOf({ id, agent, text, after }: PlanStep): Item {
  return { id, text: agent ? `[${agent}] ${text}` : text, status: "pending", after }
}

/** The inverse of `itemOf`. */
export function stepOf({ id = "", text, after = [] }: Item): PlanStep {
  const [, agent, rest] = /^\[([\w.-]+)\] (.+)$/s.exec(text) ?? []
  return agent ? { id, agent, text: rest!, after } : { id, text, after }
}

function readLine(line: string): PlanStep | undefined {
  const [, id, rest] = /^[\s>*_#-]*(?:step\s+)?(\d{1,2})[.):]\s+(.+)$/i.exec(line) ?? []
  if (!id || !rest) return undefined
  const [, agent, words] = /^[*_`]*\[([\w.-]+)\][*_`]*:?\s*(.+)$/.exec(rest) ?? [undefined, undefined, rest]
  const [, text = words!, list = ""] = /^(.*?)\s*\(after\s+([^()]*)\)[\s.]*$/i.exec(words!) ?? []
  if (!text.trim()) return undefined
  return {
    id,
    ...(agent ? { agent: agent.toLowerCase() } : {}),
    text: text
      .replace(/\p{Cc}/gu, " ")
      .trim()
      .slice(0, maxText),
    after: list.match(/\d{1,2}/g) ?? [],
  }
}
