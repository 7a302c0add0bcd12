// Runs one prompt, from its first message to its end: an answer, an error that the session stores, or an interruption. The
// session can continue with the next prompt in every case.

import { AsyncLocalStorage } from "node:async_hooks"
import { autoAgent, plannerAgent } from "#ability/agent/agent-registry.ts"
import * as Queue from "#engine/queue/queue.ts"
import { recoverOnce } from "#engine/queue/recover-prompts.ts"
import { Removed } from "#engine/queue/stored-prompt.ts"
import { append, keep, settle } from "#engine/record/append.ts"
import { finalAnswer, missingResults, tipOf } from "#engine/record/history.ts"
import { refreshCheckout } from "#engine/record/if-checkout.ts"
import { personOf } from "#engine/record/session-access.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { type Ask, createProgress, type Run, type Work } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Person from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import type * as Message from "#knowledge/message/message.ts"
import { errorText } from "#util/error.ts"
import { type Begun, beginRun } from "./begin-run.ts"
import { loop } from "./loop.ts"

export async function runPrompt(
  input: Work,
  { signal, prompt }: { signal: AbortSignal; prompt: Ask },
): Promise<Message.Info> {
  const claimed = await claim(input, signal)
  const { lease, session } = claimed
  const ending = lease ? AbortSignal.any([signal, lossOf(lease)]) : signal
  const run = () => Person.run(personOf(session), () => runClaimed(claimed, { signal: ending, prompt }))
  return Worker.run(lease, run).finally(() => Worker.release(lease))
}

/** Aborted if the lease is lost. A heartbeat notices that outside the instance, and listeners need the instance. */
function lossOf({ signal }: Worker.Lease): AbortSignal {
  const lost = new AbortController()
  const follow = AsyncLocalStorage.bind(() => lost.abort(signal.reason))
  if (signal.aborted) follow()
  signal.addEventListener("abort", follow, { once: true })
  return lost.signal
}

async function runClaimed(
  { work, session, before, kept, lease }: Awaited<ReturnType<typeof claim>>,
  { signal, prompt }: { signal: AbortSignal; prompt: Ask },
): Promise<Message.Info> {
  const { sessionId, stored } = work
  const progress = createProgress(Memory.begin(sessionId))
  const begun: Begun = { session, progress, signal, tip: before.tip }
  keep(begun.progress.records, kept)
  keep(begun.progress.records, recoverOnce(sessionId, { isInterrupted: before.status === "interrupted" }))
  try {
    await refreshCheckout()
    const answer = await answerOf(await beginRun(work, begun, prompt), work)
    await settle(begun.progress.records)
    await finish(begun, { status: "idle" })
    Bus.publish(SessionRecord.Idle, { sessionId })
    return answer
  } catch (error) {
    // The worker that has the session now completes its records.
    if (lease?.signal.aborted) throw lease.signal.reason
    throw await fail(begun, error, stored?.id)
  } finally {
    orWarn(() => Memory.rest(sessionId))
  }
}

async function answerOf(first: Run, work: Work): Promise<Message.Info> {
  const given = work.isResumed && finalAnswer(first.progress.history)
  if (given) return given
  const { run, answer } =
    first.session.agent === autoAgent
      ? await (await import("./hand-over.ts")).answerOf(first, work)
      : { run: first, answer: await loop(first) }
  if (run.agent.id === plannerAgent && !run.parent)
    await (await import("#engine/orchestrator/carry-out.ts")).keepPlan(run, answer)
  if (run.outputSchema) (await import("./fit-output.ts")).refuseMisfit(answer, run.outputSchema)
  return answer
}

/** Claims the session for this process. If that fails, an event tells clients that follow the session. */
async function claim(input: Work, signal: AbortSignal) {
  const { sessionId, stored } = input
  try {
    signal.throwIfAborted()
    const work = input.command
      ? await (await import("./with-command.ts")).withCommand(input, input.command, signal)
      : input
    return { work, ...(await SessionRecord.claim(sessionId)) }
  } catch (error) {
    const reason = signal.aborted ? new Queue.Interrupted(sessionId, signal) : error
    Bus.publish(SessionRecord.Failed, { sessionId, error: failureOf(reason), ...promptIdOf(stored?.id) })
    throw reason
  }
}

/** Ends a failed prompt: adds results for calls that have none, stores the final status, and publishes the error. */
async function fail(run: Begun, thrown: unknown, promptId: string | undefined): Promise<unknown> {
  const { signal, session } = run
  const error = signal.aborted ? new Queue.Interrupted(session.id, signal) : thrown
  for (const result of missingResults(run.progress.history)) append(run, result)
  const kept = failureOf(error)
  const status = signal.aborted || error instanceof Removed ? "interrupted" : "error"
  await settle(run.progress.records).catch((lost) => lost instanceof Removed || warn(lost))
  await finish(run, { status, error: kept }).catch(warn)
  orWarn(() =>
    Bus.publish(SessionRecord.Failed, { sessionId: session.id, error: kept, ...promptIdOf(promptId) }),
  )
  return error
}

/** Stores the final state of the session. Safe to call twice, because the usage of the prompt is added to the usage before
 * it, not to the stored one. */
async function finish(run: Begun, state: Pick<SessionRecord.Info, "status" | "error">): Promise<void> {
  await SessionRecord.update(run.session, (draft) => {
    delete draft.owner
    draft.usage = { ...run.session.usage }
    SessionRecord.addUsage(draft.usage, run.progress.totals)
    SessionRecord.addChanged(draft, run.progress.records.changed)
    const { offered, toolServers } = run.session
    Object.assign(
      draft,
      state,
      { tip: orWarn(() => tipOf(run.session, run.progress.history, run.tip)) },
      offered ? { offered } : {},
      toolServers ? { toolServers } : {},
    )
  })
}

function failureOf(error: unknown): NonNullable<SessionRecord.Info["error"]> {
  return { name: error instanceof Error ? error.name : "Error", message: errorText(error) }
}

function promptIdOf(promptId: string | undefined): { promptId?: string } {
  return promptId ? { promptId } : {}
}

/** Logs an error instead of throwing it: the instance may have been disposed of before the prompt ends. */
function orWarn<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    warn(error)
    return undefined
  }
}

function warn(error: unknown): void {
  Log.warn("the end of a prompt could not be stored or published", { error: errorText(error) })
}
