// Delegates a task to a specialist. One that rejects the task is not asked again: the task goes on to the next one that fits,
// chosen without a model, or back to the orchestrator.
import { z } from "zod"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { delegationNeed } from "#ability/agent/delegation-need.ts"
import { parseReject, type Rejection } from "#ability/agent/specialists.ts"
import type { Delegated } from "#ability/call/types.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { activeSpecs } from "./active-specs.ts"

const Rejected = Bus.define(
  "task.rejected",
  z.object({
    sessionId: about("Session of the orchestrator.", z.string()),
    callId: about("Its call of `delegate`.", z.string()),
    taskSessionId: about("Session of the specialist.", z.string()),
    task: about("The task.", z.string()),
    agent: about("Specialist that rejected it.", z.string()),
    requires: about("Agent that the specialist named instead.", z.string().optional()),
    next: about("Specialist that gets it now; missing if none fits.", z.string().optional()),
  }),
  { when: "A specialist rejected a task." },
)

/** Runs a task in a session of its own. */
export type RunTask = (task: { task: string; agent: string }) => Promise<{ sessionId: string; text: string }>

type Rejecting = { agent: string; requires?: string }

/** How many specialists are tried for one task. */
const maxRounds = 4

class NotTaken extends NamedError {
  constructor(rejections: Rejecting[]) {
    const said = rejections.map(({ agent, requires }) =>
      requires ? `${agent} says that it needs ${requires}` : `${agent} rejected it`,
    )
    const both = rejections.slice(-2).map(({ agent }) => agent)
    const why = isBackAndForth(rejections)
      ? `${both.join(" and ")} hand this task to each other`
      : said.join("; ")
    super(
      "Delegate.NotTaken",
      `No specialist took the task: ${why}. Answer the person yourself, and say that no specialist could do it.`,
      { rejections },
    )
  }
}

class NotAllowed extends NamedError {
  constructor(agent: string, reason: string, others: string[]) {
    super("Delegate.NotAllowed", `${agent} ${reason}. Specialists: ${others.join(", ") || "none"}.`, {
      agent,
    })
  }
}

/** `isJudged`: the call named the agent, so its permission was decided already. Other agents get a task only if the rules
 * allow that without a question: a model wrote their names. */
export async function delegate(
  run: Run,
  order: { agent: string; task: string; callId: string; isJudged: boolean },
  runTask: RunTask,
): Promise<Delegated> {
  const { task, callId, isJudged } = order
  const { decide } = await run.permits.rights.now()
  const isAllowed = (target: string) => decide(delegationNeed(target)).action === "allow"
  const rejected = rejectionsOf(run, task)
  const rejections: Rejecting[] = []
  const sessions: string[] = []
  let agent = choose(order.agent, rejected)
  if (!isJudged && !isAllowed(agent))
    throw new NotAllowed(agent, "may not get tasks without a question", specialists(isAllowed))
  for (let round = 1; ; round++) {
    const { sessionId, text } = await runTask({ task, agent })
    sessions.push(sessionId)
    const rejection = rejectionOf(agent, text)
    if (!rejection) return { text: withOrigin(text, { agent, sessionId, rejections }), agent, sessions }
    rejected.add(agent)
    rejections.push({ agent, ...(rejection.agent ? { requires: rejection.agent } : {}) })
    const isOver = round >= maxRounds || isBackAndForth(rejections)
    const isOpen = (name: string) => !rejected.has(name) && isAllowed(name)
    const next = isOver ? undefined : await nextFor(task, rejection, isOpen)
    Bus.publish(Rejected, {
      sessionId: run.session.id,
      callId,
      taskSessionId: sessionId,
      task,
      agent,
      ...(rejection.agent ? { requires: rejection.agent } : {}),
      ...(next ? { next } : {}),
    })
    const where = next ? `it goes to ${next}` : "no other specialist gets it"
    const said = `${agent} rejected the task; ${where}`
    Bus.publish(Notice, { sessionId: run.session.id, messageId: "", callId, text: said })
    if (!next) throw new NotTaken(rejections)
    agent = next
  }
}

/** A specialist that names itself names nobody. */
export function rejectionOf(agent: string, text: string): Rejection | undefined {
  const rejection = parseReject(text)
  return rejection?.agent === agent.toLowerCase() ? {} : rejection
}

/** Whether the last two specialists named each other. */
function isBackAndForth(rejections: readonly Rejecting[]): boolean {
  const [first, second] = rejections.slice(-2)
  if (!first || !second) return false
  return first.requires === second.agent.toLowerCase() && second.requires === first.agent.toLowerCase()
}

/** The same task in other blanks and capitals is the same task. */
function rejectionsOf({ progress: { rejections } }: Run, task: string): Set<string> {
  const key = task.trim().replace(/\s+/g, " ").toLowerCase()
  const known = rejections.get(key) ?? new Set()
  rejections.set(key, known)
  return known
}

function choose(agent: string, rejected: ReadonlySet<string>): string {
  const others = specialists((name) => !rejected.has(name))
  if (rejected.has(agent)) throw new NotAllowed(agent, "has rejected this task already", others)
  if (others.includes(agent)) return agent
  if (AgentRegistry.specs().some(({ name }) => name === agent))
    throw new NotAllowed(agent, "is not active: none of its tools is here", others)
  if (AgentRegistry.get(agent).mode === "primary")
    throw new NotAllowed(agent, "works for people and does no tasks", others)
  return agent
}

/** The scoring decides if it is clear, else the rejecting specialist. */
export async function nextFor(
  task: string,
  { agent }: Rejection,
  isOpen: (name: string) => boolean,
): Promise<string | undefined> {
  const names = specialists(isOpen)
  const agents = names.map((name) => AgentRegistry.get(name))
  const { clearBest, rank } = await import("#ability/agent/rank.ts")
  const best = clearBest(rank({ input: task, agents, rules: [] }))
  return best?.agent ?? names.find((name) => name.toLowerCase() === agent)
}

function specialists(isOpen: (name: string) => boolean): string[] {
  return activeSpecs()
    .active.map(({ name }) => name)
    .filter(isOpen)
}

function withOrigin(
  text: string,
  { agent, sessionId, rejections }: { agent: string; sessionId: string; rejections: Rejecting[] },
): string {
  const before = rejections.map((one) => one.agent).join(", ")
  return `${text.trim()}\n\n[${agent}, session ${sessionId}${before ? `; rejected by ${before}` : ""}]`
}
