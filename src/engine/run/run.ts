// What one prompt carries with it from its first request to its last: the session, the model, the history, the limits,
// and the records that are still on their way to the disk.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import type * as Provider from "#ability/provider/provider.ts"
import type { Definition } from "#ability/tool/tool.ts"
import type { Chosen } from "#engine/ask/choose-model.ts"
import type { Records } from "#engine/record/append.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { Permits } from "#engine/rights/permits.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import type { Budget } from "./budget.ts"
import type { Input } from "./input.ts"

export type Limits = { maxSteps: number; maxCost?: number }

/** How long things may take, in milliseconds. */
export type Timing = {
  /** A stream that gives nothing for this long has stalled. */
  stall: number
  /** How often an answer is kept while it grows. */
  keepEvery: number
  /** How long a person may take to answer a question. */
  reply: number
  /** Before a request that failed `tries` times is made again. */
  wait: (error: unknown, tries: number) => number
}

/** What of a prompt is settled before its first request, and how far it has come. */
export type Settled = Readonly<{
  session: SessionRecord.Info
  agent: AgentDefinition
  chosen: Chosen
  /** The words of the prompt. */
  intent: string
  limits: Limits
  timing: Timing
  signal: AbortSignal
  permits: Permits
  converter: Message.Converter
  /** The prompt that gave this one as a task, and how many such prompts there are above it. */
  parent: Run | undefined
  depth: number
  /** How a task for another agent is prompted. */
  prompt: Ask
  progress: Progress
}>

/** One prompt at work. Only what is inside of `offer` and `progress` changes. */
export type Run = Settled & Readonly<{ system: string; offer: Offer }>

export type Ask = (input: Input, timing: Timing) => Promise<Message.Info>

/** The tools that requests name. */
export type Offer = {
  tools: Provider.ToolDescription[]
  /** Where there are too many tools for a request: all of them. */
  more?: More | undefined
  /** Of the registry from which these were chosen. */
  edition: number
}

/** What there is beyond the list of a run. */
export type More = {
  /** All that the agent may use, by id. */
  usable: ReadonlyMap<string, Definition>
  /** What the definitions in the list cost beyond the built-in ones and `tool_search`, and what they may. */
  tokens: number
  cap: number
}

/** A call with its result. `isWaited`: it succeeded, and took its time or came long after the same one before. */
export type Made = { key: string; at: number; isWaited: boolean }

export type Progress = {
  history: Message.Info[]
  records: Records
  totals: SessionRecord.Totals
  /** The last calls with their results, as far as it takes to see that they repeat. */
  repeats: Made[]
  /** Tokens of the model's window; known from the first request on. */
  budget?: Budget
  /** How far the history was searched for images, and whether there is one. */
  images?: { seen: number; found: boolean }
  /** The tasks that it has given away: how many run, who waits for a place, and those at work by their sessions. */
  tasks: { running: number; waiting: (() => void)[]; runs: Map<string, Run> }
}

export function createProgress(history: Message.Info[]): Progress {
  const tasks = { running: 0, waiting: [], runs: new Map() }
  const totals = SessionRecord.Totals.parse({})
  return { history, totals, records: { pending: new Set() }, repeats: [], tasks }
}

export class StepLimit extends NamedError {
  constructor(steps: number) {
    super("Session.StepLimit", `The turn was stopped after ${steps} steps. --max-steps allows more.`, {
      steps,
    })
  }
}

class CostLimit extends NamedError {
  constructor(cost: number, limit: number) {
    super(
      "Session.CostLimit",
      `The turn was stopped: it cost $${cost.toFixed(4)}, and --max-cost is $${limit}.`,
      { cost, limit },
    )
  }
}

/** A limit is for all that works for one prompt: what tasks beside this one have spent counts as well. */
export function refuseCost(run: Run): void {
  for (let one: Run | undefined = run; one; one = one.parent) {
    const { maxCost } = one.limits
    const cost = spentBy(one)
    if (maxCost !== undefined && cost > maxCost) throw new CostLimit(cost, maxCost)
  }
}

/** What the tasks at work have spent is not in its own totals yet. */
function spentBy({ progress: { totals, tasks } }: Run): number {
  return tasks.runs.values().reduce((sum, task) => sum + spentBy(task), totals.cost)
}

/** Whether a call may name this tool: what an agent was not given it cannot use, also where its model knows the name. */
export function mayCall({ tools, more }: Offer, id: string): boolean {
  return tools.some(({ name }) => name === id) || (more?.usable.has(id) ?? false)
}
