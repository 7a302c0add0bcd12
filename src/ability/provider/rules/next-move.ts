// Compares the steps of a plan with the calls that were made so far, and returns the next calls or, if there are none, the
// outcome of every step.
import { posix } from "node:path"
import type { Step } from "./plan.ts"
import {
  at,
  type Call,
  type Entry,
  entriesIn,
  filesIn,
  gitTrouble,
  isMissing,
  type Pick,
  type Proposal,
  type Result,
} from "./skill/proposal.ts"

export type Outcome = {
  step: Step
  made: Result[]
  /** Files that were picked from earlier results. */
  picked?: string[]
  /** Why it was not done. */
  reason?: string
}
export type Move = { calls: Call[] } | { outcomes: Outcome[] }

const maxFiles = 20
const maxFolders = 50
const effects = new Set(["bash", "write", "edit", "subtask"])

/** `subject` is the file that earlier requests were about. */
export function nextMove({
  steps,
  made,
  subject,
}: {
  steps: Step[]
  made: Result[]
  subject?: string
}): Move {
  const left = [...made]
  const outcomes: Outcome[] = []
  const pending: Call[] = []
  /** The results of these calls; undefined if the calls have not been made yet. */
  const take = (calls: Call[]): Result[] | undefined => {
    if (!pending.length && left.length >= calls.length) return left.splice(0, calls.length)
    pending.push(...calls)
    return undefined
  }
  for (const step of steps) {
    const outcome: Outcome = { step, made: [] }
    const { calls = [], after } = step.proposal ?? {}
    const hasEffect = isEffect(calls) || effects.has(after?.tool ?? "")
    // A step that changes something waits for the steps before it, and is skipped if one of them failed.
    if (pending.length && (hasEffect || after)) break
    if (hasEffect && outcomes.some(isStuck)) {
      outcomes.push({ ...outcome, reason: "I stopped, because the step before it was not done" })
      continue
    }
    const results = take(calls)
    outcome.made = results ?? []
    if (!results && (after || hasEffect)) break
    if (after && results) {
      const choice = pickFiles({ pick: after.pick, outcome, outcomes, ...(subject ? { subject } : {}) })
      const sizes = take(choice.sizes ?? [])
      if (!sizes) break
      const found = choice.paths(sizes)
      // If several files fit, none is changed.
      const paths = after.tool === "edit" && choice.isOneOf ? [] : found
      if (!paths.length) outcome.reason = "I found no file for it"
      if (after.pick !== "own") outcome.picked = paths
      const more = take(paths.flatMap((path) => after.make(path, results)))
      if (!more) break
      // Results of intermediate calls are not shown.
      const shown = after.pick === "own" ? results.filter((one) => one.isError && !isMissing(one)) : results
      if (!more.length && !shown.some(hasFailed) && after.otherwise) outcome.reason = after.otherwise
      outcome.made = [...shown, ...more]
    }
    outcomes.push(outcome)
  }
  if (!pending.length) correctCalls(outcomes, take)
  return pending.length ? { calls: pending } : { outcomes }
}

/** Whether a step did all that was asked for. A command that ran counts, whatever its exit code. */
export function isDone({ step: { proposal }, made, reason }: Outcome): boolean {
  return (
    proposal !== undefined &&
    !proposal.refusal &&
    !reason &&
    !made.some((one) => one.isError || gitTrouble(one))
  )
}

/** Replaces calls that did not fit: `ls` of a file, `read` of a folder, or a `read` that did not reach the end of a long
 * file. */
function correctCalls(outcomes: Outcome[], take: (calls: Call[]) => Result[] | undefined) {
  const others = outcomes.flatMap(({ step, made }) =>
    made.flatMap((one) => correctedCall(one, step.proposal) ?? []),
  )
  const results = take(others)
  if (!results) return
  for (const outcome of outcomes)
    outcome.made = outcome.made.map((one) =>
      correctedCall(one, outcome.step.proposal) ? results.shift()! : one,
    )
}

function correctedCall(made: Result, proposal: Proposal | undefined): Call | undefined {
  const { tool, args, output, isError } = made
  const { last, instead } = proposal ?? {}
  if (instead && isMissing(made)) return instead
  const path = args.path as string
  if (isError && tool === "ls" && / is a file\. Use read /.test(output))
    return { tool: "read", args: { path } }
  if (isError && tool === "read" && / is a folder\. Use ls /.test(output))
    return { tool: "ls", args: { path } }
  const total = Number(/(\d+) lines in all; go on with/.exec(output.slice(-200))?.[1])
  if (tool !== "read" || last === undefined || !(total > 0)) return undefined
  return { tool: "read", args: { path, startLine: Math.max(1, total - last + 1) } }
}

/** Whether a step was not done or failed: later steps may rely on it. */
function isStuck({ step, made, reason }: Outcome): boolean {
  return reason !== undefined || step.proposal?.refusal !== undefined || made.some(hasFailed)
}

/** A command with an exit code other than 0 has failed, although its tool reports no error. */
export function hasFailed({ tool, output, isError }: Result): boolean {
  return isError || (tool === "bash" && /^\[(?:exit code [1-9]|ended by )/m.test(output.slice(-500)))
}

function isEffect(calls: Call[]): boolean {
  return calls.some(({ tool }) => effects.has(tool))
}

type Choice = { sizes?: Call[]; paths: (sizes: Result[]) => string[]; isOneOf?: boolean }

function pickFiles(options: { pick: Pick; outcome: Outcome; outcomes: Outcome[]; subject?: string }): Choice {
  const { pick, outcome, outcomes, subject } = options
  const source = outcome.made.length ? outcome : outcomes.findLast(({ made }) => made.length > 0)
  const files = [...new Set(source?.picked?.length ? source.picked : (source?.made ?? []).flatMap(filesIn))]
  if (!files.length && subject && (pick === "it" || pick === "each")) files.push(subject)
  if (pick === "own") return { paths: () => outcome.made.map(({ args }) => String(args.path ?? ".")) }
  if (pick === "each") return { paths: () => files.slice(0, maxFiles) }
  if (pick === "it" || pick === "before") return { paths: () => files.slice(0, 1), isOneOf: files.length > 1 }
  if (pick === "last") return { paths: () => files.slice(-1) }
  if (typeof pick === "number") return { paths: () => files.slice(pick, pick + 1) }
  const known = (source?.made ?? []).flatMap(entriesIn)
  if (known.length) return { paths: () => bySize(known, pick) }
  const folders = [...new Set(files.map((file) => posix.dirname(file)))].slice(0, maxFolders)
  const wanted = new Set(files.map((file) => posix.normalize(file)))
  return {
    sizes: folders.map((path) => ({ tool: "ls", args: at(path) })),
    paths: (sizes) =>
      bySize(
        sizes.flatMap(entriesIn).filter(({ path }) => wanted.has(path)),
        pick,
      ),
  }
}

function bySize(entries: Entry[], pick: "smallest" | "largest"): string[] {
  const sign = pick === "smallest" ? 1 : -1
  const [first] = entries.toSorted((a, b) => sign * (a.bytes - b.bytes) || (a.path < b.path ? -1 : 1))
  return first ? [first.path] : []
}
