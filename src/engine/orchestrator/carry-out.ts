// Carries out a plan: each step goes to the specialist that fits, as soon as the steps that it waits for are done. The plan is
// the task list of the session, so it survives a compaction and a restart; a step that is done is not done again.
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import type { Delegated } from "#ability/call/types.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Message from "#knowledge/message/message.ts"
import { errorText, NamedError } from "#util/error.ts"
import { activeSpecs } from "./active-specs.ts"
import { itemOf, type PlanStep, planSteps, stepOf, UnclearPlan } from "./plan-steps.ts"

/** Does a step; `id` is noted in the session of the specialist. */
type DoStep = (step: { id: string; agent: string; task: string }) => Promise<Delegated>
/** The answer of a step that was done before this process, if its session still has it. */
type FindResult = (id: string) => Promise<string | undefined>

type Outcome = { text: string; failed?: true; sessions?: string[] }
type Carrying = { run: Run; doStep: DoStep; findResult: FindResult }

/** Characters of an earlier result that a later step gets. */
const maxResult = 4_000
const maxSteps = 20

/** Stores the plan of a planner's answer. False if the answer has no steps. A plan that is too long or cut off is refused:
 * without its end it would lead elsewhere. */
export async function storePlan(run: Run, goal: string, answer: Message.Info): Promise<boolean> {
  const steps = planSteps(Message.textOf(answer))
  if (!steps.length) return false
  const cut = Message.cutReason(answer)
  if (cut) throw new UnclearPlan(`The plan was ${cut}.`)
  if (steps.length > maxSteps)
    throw new UnclearPlan(`The plan has ${steps.length} steps, and at most ${maxSteps} are carried out.`)
  const title = goal.replace(/\s+/g, " ").trim().slice(0, 200)
  await TodoList.update(run.session.id, steps.map(itemOf), { replace: true, title })
  return true
}

/** Keeps the plan that a planner wrote for a person, so that an orchestrator can carry it out later in the session. */
export async function keepPlan(run: Run, answer: Message.Info): Promise<void> {
  try {
    await storePlan(run, run.intent, answer)
  } catch (error) {
    const text = `the plan is not kept: ${errorText(error)}`
    Bus.publish(Notice, { sessionId: run.session.id, messageId: answer.id, text })
  }
}

/** Returns the results of all steps. A failed step stops only those that wait for it. */
export async function carryOut(carrying: Carrying): Promise<Delegated> {
  const { run, findResult } = carrying
  const { title = "", todos } = await TodoList.plan(run.session.id)
  if (!todos.length) throw new NamedError("Delegate.NoPlan", "There is no plan to carry out.")
  const steps = todos.map((item, at) => ({ ...stepOf(item), id: item.id ?? String(at + 1), item }))
  const outcomes = new Map<string, Outcome>()
  for (const { id, item } of steps)
    if (item.status === "done") outcomes.set(id, { text: (await findResult(id)) ?? "(done before)" })
  const running = new Map<string, Promise<void>>()
  for (;;) {
    run.signal.throwIfAborted()
    for (const step of steps) {
      if (running.has(step.id) || !isReady(step, outcomes)) continue
      const working = doOne(carrying, { step, title, outcomes }).then((outcome) => {
        outcomes.set(step.id, outcome)
        running.delete(step.id)
      })
      working.catch(() => {})
      running.set(step.id, working)
    }
    if (!running.size) return summary(steps, outcomes)
    await Promise.race(running.values())
  }
}

function isReady({ id, after }: PlanStep, outcomes: Map<string, Outcome>): boolean {
  if (outcomes.has(id)) return false
  return after.every((name) => outcomes.has(name) && !outcomes.get(name)!.failed)
}

async function doOne(
  { run, doStep }: Carrying,
  { step, title, outcomes }: { step: PlanStep; title: string; outcomes: Map<string, Outcome> },
): Promise<Outcome> {
  const mark = (status: "in_progress" | "done" | "pending") =>
    TodoList.update(run.session.id, [{ ...itemOf(step), status }])
  await mark("in_progress")
  try {
    const done = await doStep({
      id: step.id,
      agent: await agentFor(step),
      task: taskOf(step, title, outcomes),
    })
    await mark("done")
    return { text: done.text, sessions: done.sessions }
  } catch (error) {
    // The process may end: a step that is in progress is done again after a restart.
    run.signal.throwIfAborted()
    await mark("pending")
    return { text: errorText(error), failed: true }
  }
}

/** The agent that the plan names if it is active, else the one that fits the words best. */
async function agentFor({ agent, text }: PlanStep): Promise<string> {
  const names = activeSpecs()
    .active.map(({ name }) => name)
    .filter((name) => name !== AgentRegistry.plannerAgent)
  if (agent && names.includes(agent)) return agent
  const agents = names.map((name) => AgentRegistry.get(name))
  const { rank } = await import("#ability/agent/rank.ts")
  const [best] = rank({ input: text, agents, rules: [] })
  const chosen = best?.agent ?? names[0]
  if (chosen === undefined) throw new NamedError("Delegate.NoSpecialist", "No specialist is active.")
  return chosen
}

function taskOf({ text, after }: PlanStep, title: string, outcomes: Map<string, Outcome>): string {
  const results = after.map((id) => `Result of step ${id}:\n${shorten(outcomes.get(id)!.text)}`)
  return [text, ...(title ? [`This is one step of: ${title}`] : []), ...results].join("\n\n")
}

function shorten(text: string): string {
  return text.length > maxResult ? `${text.slice(0, maxResult)}\n[cut here]` : text
}

function summary(steps: readonly PlanStep[], outcomes: Map<string, Outcome>): Delegated {
  const lines = steps.map(({ id, text, after }) => {
    const outcome = outcomes.get(id)
    if (!outcome) return `## Step ${id}: not begun\n${text}\nIt waits for ${after.join(", ")}.`
    return `## Step ${id}: ${outcome.failed ? "failed" : "done"}\n${text}\n\n${shorten(outcome.text)}`
  })
  const isWhole = steps.every(({ id }) => outcomes.get(id) && !outcomes.get(id)!.failed)
  const end = isWhole ? [] : ["`delegate` with `resume` tries the unfinished steps again."]
  return {
    text: [...lines, ...end].join("\n\n"),
    sessions: [...outcomes.values()].flatMap(({ sessions = [] }) => sessions),
  }
}
