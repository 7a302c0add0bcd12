// Reads the plan that a planner wrote: one line for each step, `1. [agent] What to do (after 2, 3)`. Models write the same as
// headings, list items and bold text.
import type { Item } from "#ability/plan/todo-item.ts"

export type PlanStep = { id: string; agent?: string; text: string; after: string[] }

/** With the name of an agent, it must fit into the text of an item. */
const maxText = 1_900
/** Marks of quotes, headings, lists, boxes and emphasis in front of the number. */
const marks = /^[\s>*_#+•-]*(?:\[[ x]?\]\s+)?[*_`(]*/i
/** Without a point, a number counts only after the word "step" or before an agent: "10 - 20 files" is no step. */
const numbers = [
  /^(?:step\s+)?(\d{1,2})[*_`]*\\?[.):][*_`:]*(?:\s+|(?=\[))(.+)$/i,
  /^step\s+(\d{1,2})[*_`]*\s*[—–-]\s+(.+)$/i,
  /^(\d{1,2})[*_`]*\s+([*_`]*\[[a-z].+)$/i,
]
const assigned = /^[*_`]*\[([\w.-]+)\][*_`:]*\s*(.*)$/
const waiting = /^(.*?)\s*[*_`]*\(after\s+([^()]*)\)[\s.*_`]*$/i

/** The steps in the order of the text; empty if it has none. A reference to a step that is not there is left out. */
export function planSteps(text: string): PlanStep[] {
  const found: PlanStep[] = []
  for (const line of text.split("\n")) {
    const last = found.at(-1)
    const step = readLine(line)
    if (step) found.push(step)
    // A heading may have the agent alone, and the task below it.
    else if (last && !last.text) {
      const { text: task, after } = readTask(line)
      last.text = task
      last.after.push(...after)
    }
  }
  const steps = [...new Map(found.filter((step) => step.text).map((step) => [step.id, step])).values()]
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
  const plain = line.replace(marks, "")
  const [, id, rest] = numbers.map((form) => form.exec(plain)).find((found) => found !== null) ?? []
  if (id === undefined || rest === undefined) return undefined
  const [, agent, words = rest] = assigned.exec(rest) ?? []
  const task = readTask(words)
  if (agent === undefined) return task.text ? { id, ...task } : undefined
  return { id, agent: agent.toLowerCase(), ...task }
}

function readTask(words: string): Pick<PlanStep, "text" | "after"> {
  const [, text = words, list = ""] = waiting.exec(words) ?? []
  return {
    text: closed(text.replace(/\p{Cc}/gu, " ").trim()).slice(0, maxText),
    after: list.match(/\d{1,2}/g) ?? [],
  }
}

/** Without the end of an emphasis that began before the number. */
function closed(text: string): string {
  const [mark] = /(?:\*\*|__)$/.exec(text) ?? []
  return mark && text.split(mark).length % 2 === 0 ? text.slice(0, -2).trim() : text
}
