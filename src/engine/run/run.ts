// The input of a prompt, and its state from its first request to its last: session, model, history, limits, and the
// records that are still being written.

import type { AgentDefinition } from "#ability/agent/agent.ts"
import type { Editor } from "#ability/call/editor.ts"
import type { Segment } from "#ability/command/fill-template.ts"
import type { Rule } from "#ability/permission/rule.ts"
import type * as Provider from "#ability/provider/provider.ts"
import type { Definition } from "#ability/tool/tool.ts"
import type { Chosen } from "#engine/model/choose-model.ts"
import type * as Queue from "#engine/queue/queue.ts"
import type * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import type { Records } from "#engine/record/append.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { Permits } from "#engine/rights/permits.ts"
import type { Asks } from "#engine/rights/questions.ts"
import type { Preset } from "#engine/rights/rights.ts"
import type { SessionGuards } from "#engine/symbolic/session-guards.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import type { PromptHooks } from "./prompt-hooks.ts"

export type Input = {
  sessionId: string
  text?: string
  /** After the text: more text, files and images. */
  parts?: PromptPart[]
  /** The text in which `@path` is a reference; default: all of it. */
  mentionsIn?: string
  /** Do not look for a slash command in the text: the caller has done so, or a server wrote the text. */
  isText?: boolean
  /** First read again attachments that have changed, and retry those that failed. */
  refresh?: boolean
  agent?: string
  model?: string
  signal?: AbortSignal
  /** Wait for the running prompt, join it before its next request, or throw `Session.Busy`. A prompt with other
   * settings does not join; it runs next. */
  whenBusy?: Queue.WhenBusy
  /** Join the running prompt, or throw `Session.NotJoined`. */
  onlyJoins?: boolean
  /** The prompt began on a worker that is gone: its messages are stored, and the turn goes on from them. */
  isResumed?: boolean
  /** The record of this prompt, if the caller has stored it. */
  stored?: StoredPrompt.Handle | undefined
  /** The caller's trace in the form of W3C, which the prompt continues if telemetry is on. */
  traceparent?: string
  /** Milliseconds that the prompt may run; waiting in the queue does not count. */
  timeout?: number
  /** What happens when a person must allow something: wait for one, deny, or allow this once. Default: ask listeners
   * of `Permission.Requested`, and deny at once if there are none or all of them fail. */
  asks?: Asks
  /** Milliseconds after which an unanswered question counts as rejected; default: ten minutes. */
  replyLimit?: number
  /** The person's rules for this prompt. */
  rules?: Rule[]
  /** The editor in which the session is open, if it offers files or terminals to tools. */
  editor?: Editor | undefined
  /** Folders beside the workspace whose files may be read as those of the workspace. Absolute real paths. */
  directories?: readonly string[] | undefined
  /** The final answer is JSON that fits this JSON Schema. The model is asked again if its answer does not. */
  outputSchema?: OutputSchema
  /** The approval preset; default: "ask". */
  preset?: Preset | undefined
  /** The prompt that gave this one as a task. */
  parent?: Run
  /** Runs the prompt elsewhere, such as in a sandbox; default: in this process. */
  runner?: Runner
} & Partial<Limits>

/** A JSON Schema: draft-07, 2019-09 or 2020-12. */
export type OutputSchema = Readonly<Record<string, unknown>>

/** A prompt whose turn has come. */
export type Work = Omit<Input, "text" | "parts"> & {
  parts: PromptPart[]
  timing: Timing
  /** The text of the prompt, if it names a command file or a prompt of an MCP server. */
  command: string | undefined
  /** Its parts before the command was expanded. */
  typed?: PromptPart[]
  /** The command file that the prompt names. */
  filled?: FilledCommand
}

/** A command with its arguments. Agent, model, mode and rules are those of the command that apply, for this prompt only. */
export type FilledCommand = {
  name: string
  segments: Segment[]
  rules: readonly Rule[]
  agent?: string | undefined
  model?: string | undefined
  mode?: "plan" | undefined
  /** Notices for the person. */
  notes: string[]
}

/** Runs a prompt to its end, whatever its end is; must end soon after the signal aborts. */
export type Runner = (work: Work, signal: AbortSignal) => Promise<Message.Info>

type Limits = { maxSteps: number; maxCost?: number }

/** What a prompt may choose for itself. */
export type Setting =
  | ("agent" | "model" | "rules" | "asks" | "maxSteps" | "maxCost" | "timeout" | "replyLimit")
  | "outputSchema"

/** Time limits, in milliseconds. */
export type Timing = {
  /** A stream that gives nothing for this long has stalled. */
  stall: number
  /** How often a streaming answer is stored. */
  keepEvery: number
  /** How long a person may take to answer a question. */
  reply: number
  /** The wait before a request that failed `tries` times is retried. */
  wait: (error: unknown, tries: number) => number
}

/** The settled parts of a prompt before its first request, and its progress. */
export type Settled = Readonly<{
  session: SessionRecord.Info
  agent: AgentDefinition
  chosen: Chosen
  /** The text of the prompt. */
  intent: string
  /** The settings in force, whoever chose them. */
  settings: Readonly<Record<Setting, unknown>>
  limits: Limits
  outputSchema: OutputSchema | undefined
  timing: Timing
  signal: AbortSignal
  permits: Permits
  /** Those of the prompt, also for its tasks. */
  editor: Editor | undefined
  directories: readonly string[]
  converter: Message.Converter
  /** The prompt that gave this one as a task, and how many such prompts are above it. */
  parent: Run | undefined
  depth: number
  /** Runs the prompt of a task. */
  prompt: Ask
  progress: Progress
}>

/** One running prompt. Only the contents of `offer` and `progress` change. */
export type Run = Settled & Readonly<{ system: string; offer: Offer }>

export type Ask = (input: Input, timing: Timing) => Promise<Message.Info>

/** The tools that requests name. */
export type Offer = {
  tools: Provider.ToolDescription[]
  /** All tools, if they are too many for a request. */
  more?: More | undefined
  /** The version of the registry from which these were chosen. */
  version: number
}

/** The tools beyond the list of a run. */
export type More = {
  /** All tools that the agent may use, by id. */
  usable: ReadonlyMap<string, Definition>
  /** Tokens of the listed definitions beyond the built-in ones and `tool_search`, and the most that they may have. */
  tokens: number
  cap: number
}

/** A call with its result. `isWaited`: it succeeded, and it took long or came long after the previous such call. */
export type Made = { key: string; at: number; isWaited: boolean }

export type Progress = {
  history: Message.Info[]
  /** The guards of the session, if some are configured. */
  guards?: SessionGuards | undefined
  /** The hooks of this prompt, if there are any. */
  hooks?: PromptHooks | undefined
  records: Records
  totals: SessionRecord.Totals
  /** The last calls with their results, as many as are needed to detect a loop. */
  repeats: Made[]
  /** Tokens that a request may have; known from the first request on. */
  limit?: number
  /** Up to which message the history was searched for images, and whether there is one. */
  images?: { seen: number; found: boolean }
  /** The tasks of this prompt: how many run, which ones wait for a slot, and the running ones by session. */
  tasks: { running: number; waiting: (() => void)[]; runs: Map<string, Run> }
  /** The specialists that rejected a task, by the words of the task. */
  rejections: Map<string, Set<string>>
  /** Answers that did not fit the output schema. */
  misfits?: number
  /** A call carries out the plan of the session. */
  isPlanning?: boolean
}

export function createProgress(history: Message.Info[]): Progress {
  const tasks = { running: 0, waiting: [], runs: new Map() }
  const totals = SessionRecord.Totals.parse({})
  const rejections = new Map<string, Set<string>>()
  return { history, totals, records: { pending: new Set() }, repeats: [], tasks, rejections }
}

export class StepLimit extends NamedError {
  constructor(steps: number) {
    const count = `${steps} ${steps === 1 ? "step" : "steps"}`
    super("Session.StepLimit", `The turn was stopped after ${count}. --max-steps allows more.`, { steps })
  }
}

export class CostLimit extends NamedError {
  constructor(cost: number, limit: number) {
    const message = `The turn was stopped: it cost $${cost.toFixed(4)}, and --max-cost is $${limit}.`
    super("Session.CostLimit", message, { cost, limit })
  }
}

/** A cost limit applies to the prompt and all its tasks together. */
export function refuseCost(run: Run): void {
  for (let one: Run | undefined = run; one; one = one.parent) {
    const { maxCost } = one.limits
    const cost = spentBy(one)
    if (maxCost !== undefined && cost > maxCost) throw new CostLimit(cost, maxCost)
  }
}

/** The cost of running tasks is not in the prompt's own totals yet. */
function spentBy({ progress: { totals, tasks } }: Run): number {
  return tasks.runs.values().reduce((sum, task) => sum + spentBy(task), totals.cost)
}

/** Whether a call may name this tool. An agent cannot use a tool that it was not given, even if its model knows the
 * name. */
export function mayCall({ tools, more }: Offer, id: string): boolean {
  return tools.some(({ name }) => name === id) || (more?.usable.has(id) ?? false)
}
