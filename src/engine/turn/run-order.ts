// Runs an order of an orchestrator: a task for a specialist, a goal for the planner, whose plan is then carried out, or the
// rest of a plan.
import { plannerAgent } from "#ability/agent/agent-registry.ts"
import type { Delegated, Order } from "#ability/call/types.ts"
import { carryOut, storePlan } from "#engine/orchestrator/carry-out.ts"
import { delegate } from "#engine/orchestrator/delegate.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { Run } from "#engine/run/run.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"
import { spawnTask } from "./spawn-task.ts"

type Given = { order: Order; callId: string }
type Part = { agent: string; task: string; step?: string }

export async function runOrder(run: Run, { order, callId }: Given): Promise<Delegated> {
  if (!("resume" in order) && order.agent !== plannerAgent) return hand(run, callId, order)
  // A session has one plan, so two at once would mix their steps.
  if (run.progress.isPlanning)
    throw new NamedError(
      "Delegate.PlanRuns",
      "Another call carries out a plan. Plan again when its result is there.",
    )
  run.progress.isPlanning = true
  try {
    return await runPlan(run, { order, callId })
  } finally {
    run.progress.isPlanning = false
  }
}

async function runPlan(run: Run, { order, callId }: Given): Promise<Delegated> {
  if ("resume" in order) return finishPlan(run, callId)
  const planned = await hand(run, callId, order)
  if (planned.agent !== plannerAgent) return planned
  const answer = await answerIn(planned.sessions.at(-1)!)
  if (!answer || !(await storePlan(run, order.task, answer))) return planned
  const done = await finishPlan(run, callId)
  return { ...done, sessions: [...planned.sessions, ...done.sessions] }
}

function hand(run: Run, callId: string, { agent, task, step }: Part): Promise<Delegated> {
  return delegate(run, { agent, task, callId, isJudged: step === undefined }, (one) =>
    spawnTask(run, { ...one, callId, ...(step ? { step } : {}) }),
  )
}

function finishPlan(run: Run, callId: string): Promise<Delegated> {
  return carryOut({
    run,
    doStep: ({ id, ...part }) => hand(run, callId, { ...part, step: id }),
    findResult: (step) => resultOf(run.session.id, step),
  })
}

/** The last answer in the newest session that did this step. */
async function resultOf(sessionId: string, step: string): Promise<string | undefined> {
  const all = await SessionRecord.list({ tasks: true })
  const done = all.filter(
    ({ taskOf, status }) => taskOf?.sessionId === sessionId && taskOf.step === step && status === "idle",
  )
  const newest = done.sort((a, b) => b.time.created - a.time.created).at(0)
  const answer = newest && (await answerIn(newest.id))
  return answer && Message.textOf(answer)
}

/** The last answer of a session. */
async function answerIn(sessionId: string): Promise<Message.Info | undefined> {
  const messages = await MessageStore.list(sessionId)
  return messages.findLast(({ type, data }) => type === "text" && data.role === "assistant")
}
