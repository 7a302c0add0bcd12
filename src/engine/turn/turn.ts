// One turn: sends the history to the model and stores its answer, as text and calls. A history that would not fit the
// model's window is compacted first; the code for that is loaded only then.

import { findContext } from "#engine/context/find-context.ts"
import type { Answer } from "#engine/model/collect.ts"
import { isTooLong } from "#engine/model/retry.ts"
import { append, lastId, throwIfLost } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import { fixedOf, limitOf, mostAbove, mostFixed } from "#engine/run/budget.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { tokensOf } from "#knowledge/memory/tokens.ts"
import * as Message from "#knowledge/message/message.ts"
import { createStreamedText, seeingOf, type Taken, takeAnswer } from "./take-answer.ts"

type Text = Message.Of<"text">
type Request = Message.Of<"tool_request">
type Streamed = ReturnType<typeof createStreamedText>
export type Turn = { answer: Message.Info; request?: Request }

/** How often a refused request is made shorter; after that it is a small part of the first one. */
const mostRefusals = 6
/** A refused request was longer than the real window, which may be smaller than the stated one. */
const afterRefusal = 0.6

/** If the provider says that a request is too long, compact and retry until it is accepted. */
export async function runTurn(run: Run): Promise<Turn> {
  throwIfLost(run.progress.records)
  await compactIfNeeded(run)
  for (let refusals = 1; ; refusals++)
    try {
      return await takeTurn(run)
    } catch (error) {
      if (run.signal.aborted) throw error
      if (!isTooLong(error)) throw await explained(run, error)
      if (refusals > mostRefusals) throw await tooLong(run, error)
      await compactIfNeeded(run, { error })
    }
}

/** Compact the history if the next request would exceed the budget, or if the provider refused it as too long. A
 * summary can be expensive: if it exceeds the cost limit, the prompt ends. */
async function compactIfNeeded(run: Run, refusal?: { error: unknown }): Promise<void> {
  const { system, offer, chosen, agent } = run
  const { progress } = run
  progress.limit ??= limitOf(chosen, agent.maxTokens)
  let { limit } = progress
  const memory = Memory.shortTerm(run.session.id)
  const model = `${chosen.providerId}/${chosen.modelId}`
  const exceeds = (fixed: number) => memory.shouldSummarize({ fixed, model, limit })
  // Counting the system prompt and the tools takes longer than this bound, which suffices for most requests.
  if (!refusal && !exceeds(mostFixed(system, offer.tools))) return
  const fixed = fixedOf(system, offer.tools)
  if (!refusal && !exceeds(fixed)) return
  const counted = memory.tokenCount({ fixed, model })
  const estimated = fixed + memory.window().reduce((sum, message) => sum + tokensOf(message), 0)
  if (refusal) limit = Math.min(limit, Math.floor(Math.max(counted, estimated) * afterRefusal))
  else if (counted > estimated * mostAbove && estimated <= limit) return
  const { compactHistory } = await import("#engine/compaction/compact-history.ts")
  await progress.hooks?.beforeCompact("auto")
  const isShorter = await compactHistory(run, { limit, fixed, cause: refusal?.error })
  if (isShorter) await progress.hooks?.afterCompact("auto")
  // The prompt may need what was left out, so its context is collected again; but not right after a refusal.
  if (refusal) progress.limit = Math.max(limit, memory.tokenCount({ fixed, model }))
  else {
    await findContext(run)
    // The newest results took the rest of the budget, so they are cut again to fit these notes.
    if (exceeds(fixed)) await compactHistory(run, { limit, fixed })
  }
  refuseCost(run)
}

async function tooLong(run: Run, cause: unknown): Promise<Error> {
  const { refuseFull } = await import("#engine/compaction/name-largest.ts")
  const fixed = fixedOf(run.system, run.offer.tools)
  return refuseFull({ limit: run.progress.limit!, fixed, sent: windowOf(run) }, cause)
}

async function explained({ chosen }: Run, error: unknown): Promise<unknown> {
  const { explainFailure } = await import("#engine/model/request-failed.ts")
  return explainFailure(error, chosen)
}

async function takeTurn(run: Run): Promise<Turn> {
  const text = Message.make({ ...base(run), type: "text", data: { role: "assistant", parts: [] } })
  const streamed = createStreamedText(run, text)
  let answer: Taken
  try {
    answer = await takeAnswer(run, { text, streamed })
  } catch (error) {
    keepCutOff(run, { text, streamed, error })
    throw error
  }
  return await keepAnswer(run, { text, streamed, answer })
}

/** Stores a complete answer: its text, then its calls. The last message has the usage. */
async function keepAnswer(
  run: Run,
  { text, streamed, answer }: { text: Text; streamed: Streamed; answer: Taken },
): Promise<Turn> {
  const { parts, calls, finish = "other", used: usage } = answer
  Object.assign(text.data, { parts, finish })
  if (!calls.length) {
    // Text before a call only announces the call; only a final answer describes an image.
    const seeing = await seeingOf(run)
    seeing?.noteSeen(run, parts)
    const message = { ...text, usage }
    reportCut(run, message)
    append(run, message)
    return { answer: message }
  }
  if (parts.length) append(run, text)
  else streamed.forget()
  const real = run.offer.more ? (await import("#engine/offer/more-tools.ts")).realCalls(run, calls) : calls
  const request = Message.make({ ...base(run), usage, type: "tool_request", data: requestOf(real) })
  await run.permits.judge(request)
  append(run, request)
  return { answer: request, request }
}

/** A cut answer reads like a complete one, so the person is told. */
function reportCut({ session }: Run, message: Text): void {
  const reason = Message.cutReason(message)
  if (!reason) return
  const text = `the answer is not complete: it was ${reason}`
  Bus.publish(Notice, { sessionId: session.id, messageId: message.id, text })
}

function requestOf(calls: Answer["calls"]): Request["data"] {
  return Message.fromToolCalls(
    calls.map(({ id, name, input, providerMetadata }) => ({
      id,
      type: "function",
      function: { name, arguments: input },
      providerMetadata,
    })),
  )
}

/** Stores the part of an aborted answer that has arrived, without calls: an incomplete call never runs. */
function keepCutOff(
  run: Run,
  { text, streamed, error }: { text: Text; streamed: Streamed; error: unknown },
): void {
  text.data.parts = text.data.parts.filter((part) => part.text)
  if (!text.data.parts.length) {
    streamed.forget()
    return
  }
  text.data.finish = run.signal.aborted ? "interrupted" : "error"
  if (!run.signal.aborted && error instanceof Error)
    text.data.error = { name: error.name, message: error.message }
  append(run, text)
}

/** The messages that the model is sent. */
function windowOf({ session }: Run): readonly Message.Info[] {
  return Memory.shortTerm(session.id).window()
}

function base(run: Run) {
  const { id: sessionId, branch, agent } = run.session
  const model = `${run.chosen.providerId}/${run.chosen.modelId}`
  return { sessionId, parentId: lastId(run), branch, agent, model }
}
