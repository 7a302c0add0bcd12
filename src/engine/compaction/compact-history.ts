// Compacts a session: the history stays, and one message records which part of it the model is sent from now on.
// Nothing changes until that message is written.
import { mkdir, writeFile } from "node:fs/promises"
import { outputFolder } from "#ability/call/output-folder.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import * as Permission from "#ability/permission/permission.ts"
import { planId } from "#ability/plan/todo-plan.ts"
import type { Chosen } from "#engine/model/choose-model.ts"
import { append, lastId, settle } from "#engine/record/append.ts"
import { wholeHistory } from "#engine/record/history.ts"
import { Notice } from "#engine/record/notice.ts"
import { planNodes } from "#engine/record/plan-nodes.ts"
import { addUsage } from "#engine/record/session-record.ts"
import { type Budget, Compacted, mostAbove } from "#engine/run/budget.ts"
import type { Run, Timing } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { fileFor } from "#knowledge/memory/shorten.ts"
import { estimateTokens, outputText, tokensOf } from "#knowledge/memory/tokens.ts"
import {
  type Compaction,
  type Cut,
  frontOf,
  frontText,
  limitsFor,
  withCuts,
} from "#knowledge/memory/window.ts"
import { workingState } from "#knowledge/memory/working.ts"
import * as Message from "#knowledge/message/message.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import { errorCode, errorText } from "#util/error.ts"
import { extractSummary } from "./extract-summary.ts"
import { refuseFull } from "./name-largest.ts"
import { fitNewest, type Plan, planCuts, planKept, sumOf } from "./plan-compaction.ts"
import { renderPins, resourceName } from "./render-pins.ts"
import { canSummarize, summarize } from "./summarize.ts"

export type Scope = Pick<Run, "session" | "progress" | "signal"> & {
  /** The model that may write a summary. */
  chosen?: Chosen
  timing: Pick<Timing, "stall" | "wait">
}
/** `wanted`: if a person asked for the compaction, the most tokens to keep of the newest turns. `cause`: the error of a
 * provider that refused a request as too long. */
export type Request = Budget & { wanted?: number; cause?: unknown }

/** Summary and pins: their share of the budget, the least and the most tokens. */
const shares = { summary: [0.1, 150, 8_000], pins: [0.15, 300, 20_000] } as const
/** In a small budget even the minimum would be too much. */
const largestShare = 0.25
/** `spent`: the most that a summary may use of the tokens that it saves. `worthwhile`: the least that a compaction on
 * request must save. */
const spent = 0.5
const worthwhile = 0.1
/** Versions of files that one compaction stores. A session with more reads its whole history before it edits a file. */
const mostVersions = 1_000

/** Returns false if there was nothing to gain; then nothing has changed. Throws `Session.ContextFull` if too much is
 * left. */
export async function compactHistory(scope: Scope, request: Request): Promise<boolean> {
  const { session, progress } = scope
  const { history } = progress
  const { fixed, limit, cause } = request
  const shown = Memory.shortTerm(session.id).shown()
  const tokensBefore = Memory.shortTerm(session.id).tokenCount({ fixed, ...modelOf(scope) })
  // If the provider counts more tokens than our estimate, the budget shrinks by the same factor.
  const estimated = fixed + sumOf(shown.sent)
  const scale = Math.min(mostAbove, Math.max(1, tokensBefore / estimated))
  const budget = Math.floor(limit / scale) - fixed
  const plan = planOf({ history, shown, budget, request })
  const words =
    plan && (await wordsFor(scope, { plan, shown, budget, request, limit: Math.floor(limit / scale) }))
  const giveUp = () => {
    if (request.wanted !== undefined || (cause === undefined && estimated <= limit)) return false
    throw refuseFull({ fixed, limit, sent: shown.sent }, cause)
  }
  if (!plan || !words) return giveUp()
  const kept = history.slice(plan.start)
  const message = controlOf(scope)
  const front = frontOf(message, words)
  const files = outputFolder(session.id)
  const cuts = fitNewest(kept, { cuts: plan.cuts, budget: budget - (front ? tokensOf(front) : 0), files })
  const compaction: Compaction = {
    ...words,
    keptFrom: kept[0]?.id ?? null,
    tokensBefore,
    tokensAfter: 0,
    cuts,
    ...versionsBefore(history.slice(0, plan.start), shown),
    ...((await keepWhole(kept, { cuts, files })) ? { files } : {}),
  }
  const sent = [...(front ? [front] : []), ...withCuts(kept, compaction)]
  const left = fixed + sumOf(sent)
  if (left >= estimated) return giveUp()
  // After a refusal the limit is a guess, so the provider decides whether the rest fits.
  if (left > limit && cause === undefined) throw refuseFull({ fixed, limit, sent })
  // In tokens as the provider counts them, like `tokensBefore`.
  compaction.tokensAfter = Math.ceil((left * tokensBefore) / estimated)
  message.data.parameters = compaction
  append(scope, message)
  await settle(scope.progress.records)
  reportDropped(message, { gone: history.slice(shown.start, plan.start), kept: history.slice(plan.start) })
  const { by, tokensAfter } = compaction
  Bus.publish(Compacted, { sessionId: session.id, messageId: message.id, by, tokensBefore, tokensAfter })
  return true
}

/** Reports resources that the model no longer sees. */
function reportDropped(
  { sessionId, id: messageId }: Message.Info,
  { gone, kept }: { gone: readonly Message.Info[]; kept: readonly Message.Info[] },
): void {
  const shown = new Set(kept.flatMap(resourceName))
  const names = new Set(gone.flatMap(resourceName).filter((name) => !shown.has(name)))
  if (!names.size) return
  const text = `Not shown to the model any more, to save tokens: ${[...names].join(", ")}. Attach it again to show it.`
  Bus.publish(Notice, { sessionId, messageId, text })
}

type Shown = ReturnType<Memory.ShortTerm["shown"]>

function planOf(options: {
  history: readonly Message.Info[]
  shown: Shown
  budget: number
  request: Request
}): Plan | undefined {
  const { history: messages, shown, budget, request } = options
  const { start, compaction, sent } = shown
  if (budget <= 0) return undefined
  const front = compaction && (compaction.summary || compaction.pinned) ? tokensOf(sent[0]!) : 0
  const cuts = request.wanted === undefined ? planCuts({ messages, start, budget, front }) : undefined
  if (cuts) return cuts
  const { wanted } = request
  const plan = planKept({ messages, start, budget, ...(wanted === undefined ? {} : { wanted }) })
  return wanted !== undefined && plan?.start === start ? undefined : plan
}

/** The summary and the pins for the messages that are left out. Undefined if they are as long as those messages. */
async function wordsFor(
  scope: Scope,
  {
    plan,
    shown,
    budget,
    limit,
    request,
  }: { plan: Plan; shown: Shown; budget: number; limit: number; request: Request },
): Promise<Pick<Compaction, "by" | "summary" | "pinned"> | undefined> {
  const { session, progress, chosen, signal, timing } = scope
  const { history, totals } = progress
  const { summary: earlier = "", pinned: pinnedBefore = "" } = shown.compaction ?? {}
  if (plan.start === shown.start) return { by: "cut", summary: earlier, pinned: pinnedBefore }
  const messages = history.slice(shown.start, plan.start)
  const before = sumOf(shown.sent)
  const pinned = await pinsFor(scope, { plan, budget: shareOf(budget, shares.pins) })
  const gain = before - plan.tokens - estimateTokens(frontText({ summary: "-", pinned }))
  if (gain <= (request.wanted === undefined ? 0 : before * worthwhile)) return undefined
  const summaryBudget = Math.min(shareOf(budget, shares.summary), Math.ceil(gain * spent))
  const asking =
    chosen && canSummarize(chosen) ? { sessionId: session.id, chosen, signal, timing } : undefined
  const count = (usage: Message.Usage) => addUsage(totals, usage)
  const summary =
    asking && (await summarize(asking, { messages, earlier, limit, budget: summaryBudget, count }))
  signal.throwIfAborted()
  if (summary) return { by: "model", summary, pinned }
  return { by: "extract", summary: extractSummary({ messages, earlier, budget: summaryBudget }), pinned }
}

async function pinsFor(
  { session, progress: { history } }: Scope,
  { plan, budget }: { plan: Plan; budget: number },
): Promise<string> {
  const whole = await wholeHistory(session, history)
  const state = whole === history ? Memory.working(session.id).state() : workingState(whole)
  const kept = new Set(history.slice(plan.start))
  const relations = createRelationStore({ initialNodes: await planNodes(session.id, whole) })
  return renderPins({
    state,
    isShown: (message) => kept.has(message),
    plan: relations.toContext([planId]),
    mode: session.mode,
    pending: Permission.pending().filter(({ sessionId }) => sessionId === session.id),
    budget,
  })
}

/** A later process reads only the kept messages, and must still notice when somebody else has changed a file. */
function versionsBefore(gone: readonly Message.Info[], { compaction }: Shown): Pick<Compaction, "versions"> {
  const known = compaction ? compaction.versions : []
  if (!known) return {}
  const all = new Map(known.concat(SeenFiles.versionsIn(gone)).map((version) => [version.file, version]))
  return all.size > mostVersions ? {} : { versions: [...all.values()] }
}

/** Writes each cut result to a file, which the cut names. */
async function keepWhole(
  messages: readonly Message.Info[],
  { cuts, files }: { cuts: readonly Cut[]; files: string },
): Promise<boolean> {
  const limits = limitsFor(messages, cuts)
  try {
    await mkdir(files, { recursive: true, mode: 0o700 })
    for (const [i, message] of messages.entries()) {
      const path = fileFor(message, limits[i]!, files)
      if (path && message.type === "tool_result") await writeNew(path, outputText(message.data))
    }
    return true
  } catch (error) {
    Log.warn("cut results could not be written to files", { error: errorText(error) })
    return false
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 })
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error
  }
}

function controlOf(scope: Scope): Message.Of<"system_control"> {
  const { id: sessionId, branch } = scope.session
  const data = { control: "compaction", parameters: {} }
  return Message.make({ sessionId, parentId: lastId(scope), branch, type: "system_control", data })
}

function shareOf(budget: number, [share, least, most]: readonly [number, number, number]): number {
  return Math.floor(Math.min(most, Math.max(least, budget * share), budget * largestShare))
}

function modelOf({ chosen }: Scope): { model?: string } {
  return chosen ? { model: `${chosen.providerId}/${chosen.modelId}` } : {}
}
