// Reads the plan that a planner wrote: one line for each step, `1. [agent] What to do (after 2, 3)`. Models write the same as
// headings, list items and bold text, and details of a step in lines below it.
import type { Item } from "#ability/plan/todo-item.ts"
import { NamedError } from "#util/error.ts"

export type PlanStep = { id: string; agent?: string; text: string; after: string[] }

type Reading = PlanStep & { indent: number; isHeading: boolean }

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

/** A plan of which a part would get lost. */
export class UnclearPlan extends NamedError {
  constructor(problem: string) {
    super("Delegate.UnclearPlan", `${problem} Ask for another plan, or for a part of the goal.`)
  }
}

/** The steps in the order of the text; empty if it has none. A reference to a step that is not there is left out. Throws
 * `UnclearPlan`. */
export function planSteps(text: string): PlanStep[] {
  const found: Reading[] = []
  let isBelow = false
  for (const line of text.split("\n")) {
    const last = found.at(-1)
    const indent = line.search(/\S|$/)
    const step = readLine(line)
    if (step && !(last && !step.agent && indent > last.indent)) {
      found.push({ ...step, indent, isHeading: /^\s*#/.test(line) })
      isBelow = true
    } else if (/^\s*#/.test(line)) isBelow = false
    else if (line.trim() === "") isBelow &&= last!.isHeading || last!.text === ""
    else if (last && (isBelow || indent > last.indent)) addLine(last, line)
  }
  const steps = singled(found.filter((step) => step.text))
  const ids = new Set(steps.map(({ id }) => id))
  return steps.map(({ indent: _, isHeading: __, ...step }) => {
    if (step.text.length > maxText)
      throw new UnclearPlan(`Step ${step.id} has ${step.text.length} characters, and at most ${maxText} fit.`)
    return { ...step, after: [...new Set(step.after)].filter((id) => ids.has(id) && id !== step.id) }
  })
}

/** Adds a line below a step, such as an item of a list, to its text. */
function addLine(step: Reading, line: string): void {
  if (!/[\p{L}\p{N}]/u.test(line)) return
  const { text, after } = readTask(line)
  step.text = `${step.text} ${text}`.trim()
  step.after.push(...after)
}

/** Of two lines with one number, the one with an agent is the step, and the other a remark. */
function singled(found: readonly Reading[]): Reading[] {
  const named = new Set(found.flatMap(({ id, agent }) => (agent ? [id] : [])))
  const steps = found.filter(({ id, agent }) => agent || !named.has(id))
  const twice = steps.find(({ id }, at) => steps.findIndex((step) => step.id === id) !== at)
  if (twice) throw new UnclearPlan(`The plan has two steps with the number ${twice.id}.`)
  return steps
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
    text: closed(text.replace(/\p{Cc}/gu, " ").trim()),
    after: list.match(/\d{1,2}/g) ?? [],
  }
}

/** Without the end of an emphasis that began before the number. */
function closed(text: string): string {
  const [mark] = /(?:\*\*|__)$/.exec(text) ?? []
  return mark && text.split(mark).length % 2 === 0 ? text.slice(0, -2).trim() : text
}
