// Guards in the loop: opens those of a session, offers its calls and its final answer to them, and tells the model and the
// person what they block. Loaded only if guards are configured.
import type { Step } from "#ability/tool/run-tool.ts"
import { append, lastId, writeControl } from "#engine/record/append.ts"
import { historyOf, wholeHistory } from "#engine/record/history.ts"
import { Blocked as BlockedEvent, Notice } from "#engine/record/notice.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { Run } from "#engine/run/run.ts"
import type { GuardEvent } from "#engine/symbolic/guard-event.ts"
import { blockingOf, keptOf, type TaskResult, withKept } from "#engine/symbolic/guard-record.ts"
import { loadGuards } from "#engine/symbolic/load-guards.ts"
import { noteKind } from "#engine/symbolic/read-events.ts"
import {
  type Blocked,
  canApprove,
  createSessionGuards,
  inheritedFrom,
  resultsIn,
  type SessionGuards,
} from "#engine/symbolic/session-guards.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"

type Offering = Pick<Run, "session" | "progress" | "permits">
type Place = {
  session: { id: string; branch: string; taskOf?: SessionRecord.Info["taskOf"] }
  progress: { history: readonly Message.Info[] }
}

/** Answers that may be held back in a row, without a call between them. */
const maxHeld = 3
const maxKept = 50

/** The programs of sessions whose last prompt ended well. After any other end the messages are read again. */
const programs = Instance.state(() => new Map<string, SessionGuards>())

class Held extends NamedError {
  constructor(times: number, blocked: readonly Blocked[]) {
    const text = `The turn was stopped: ${sayBlocked(blocked)} The answer was held back ${times} times in a row.`
    super("Guard.Held", text, { guards: blocked.map(({ guard }) => guard) })
  }
}

class Denied extends NamedError {
  constructor(mode: string, blocked: readonly Blocked[]) {
    super("Guard.Denied", `The mode did not change to "${mode}". ${sayBlocked(blocked)}`, { mode })
  }
}

/** Opens the guards of a session where its history ends. */
export async function openGuards({ session, progress }: Place): Promise<SessionGuards | undefined> {
  const list = await loadGuards()
  if (!list.length) return undefined
  const { history } = progress
  const kept = programs().get(session.id)
  programs().delete(session.id)
  const known = kept?.list === list ? history.findLastIndex(({ id }) => id === kept.last()) : -1
  const guards = known < 0 ? createSessionGuards(list, reportProblem) : kept!
  if (known < 0) guards.inherit(await inheritedBy(session))
  const rest = known < 0 ? await wholeHistory(session, history) : history.slice(known + 1)
  for (const message of rest) guards.read(isCutTask(message) ? await withTasks(message) : message)
  // The results so far belong to earlier prompts.
  guards.takeResults()
  return guards

  function reportProblem({ guard, message }: { guard: string; message: string }): void {
    const text = `the guard "${guard}" does not work: ${message}`
    Bus.publish(Notice, { sessionId: session.id, messageId: progress.history.at(-1)?.id ?? "", text })
  }
}

/** A task knows what was read and used before it was given. Otherwise it could send what its parent may not. */
async function inheritedBy({ taskOf }: Pick<SessionRecord.Info, "taskOf">): Promise<GuardEvent[]> {
  if (!taskOf) return []
  const parent = await SessionRecord.get(taskOf.sessionId)
  const messages = await historyOf(parent.id, parent.branch)
  const at = messages.findLastIndex(
    ({ type, data }) => type === "tool_request" && data.calls.some(({ id }) => id === taskOf.callId),
  )
  return [...(await inheritedBy(parent)), ...inheritedFrom(messages.slice(0, Math.max(0, at)))]
}

/** An interrupted call does not say what its tasks have done; their sessions do. The message keeps it from now on. */
async function withTasks(message: Message.Of<"tool_result">): Promise<Message.Info> {
  const { sessionId, data } = message
  const all = await SessionRecord.list({ tasks: true })
  const own = all.filter(({ taskOf }) => taskOf?.sessionId === sessionId && taskOf.callId === data.requestId)
  const tasks: TaskResult[] = []
  for (const { id, branch } of own) {
    const messages = await historyOf(id, branch)
    for (const one of messages) if (isCutTask(one)) await withTasks(one)
    tasks.push(...resultsIn(messages))
  }
  message.data = withKept(data, { ...keptOf(message), tasks })
  await MessageStore.write(message)
  return message
}

/** The constraint slots for calls that run in parallel: each is offered after the one before it, so that guards see them in
 * the order of the calls. */
export function createOffers(run: Offering, request: Message.Info) {
  let turn: Promise<unknown> = Promise.resolve()
  return (call: Message.Call) => {
    const before = turn
    const { promise, resolve } = Promise.withResolvers<void>()
    turn = before.then(() => promise)
    return {
      async constrain(step: Step): Promise<{ message: string } | undefined> {
        await before
        try {
          return await offer(run, { request, call }, step)
        } finally {
          resolve()
        }
      },
      /** The call is over, whether it was offered or not. */
      end: resolve,
    }
  }
}

async function offer(run: Offering, asked: { request: Message.Info; call: Message.Call }, step: Step) {
  const guards = run.progress.guards!
  let blocked = guards.offerCall(step)
  if (!blocked.length) return undefined
  const title = `${blocked.map(({ reason }) => upper(reason)).join(" ")} Allow ${step.tool.id}?`
  const isAsked = canApprove(blocked, step)
  if (isAsked && (await run.permits.confirm(asked, title))) blocked = guards.approveCall(step)
  if (!blocked.length) return undefined
  publish(run, { messageId: asked.request.id, callId: asked.call.id, action: step.tool.id }, blocked)
  const hint = isAsked ? " Only a person can approve it, and nobody did." : ""
  return { message: `"${step.tool.id}" was not run. ${sayBlocked(blocked)}${hint}` }
}

/** Adds to a result what the guards must keep. */
export { withKept }

/** Offers the final answer. If guards hold it back, the model is told why and the loop goes on. */
export function holdBack(run: Run, answer: Message.Info): boolean {
  const guards = run.progress.guards!
  const blocked = guards.offerAnswer()
  if (!blocked.length) {
    keepProgram(run, guards)
    return false
  }
  publish(run, { messageId: answer.id, action: "answer" }, blocked)
  const { id: sessionId, branch } = run.session
  const name = blocked.map(({ guard }) => guard).join(", ")
  const text = `Your answer is held back. ${sayBlocked(blocked)}`
  const data = {
    role: "system" as const,
    parts: [{ type: "text" as const, text }],
    origin: { kind: noteKind, name, by: blocked.map(blockingOf) },
  }
  append(run, Message.make({ sessionId, parentId: lastId(run), branch, type: "text", data }))
  const held = heldInRow(run.progress.history)
  if (held >= maxHeld) throw new Held(held, blocked)
  return true
}

/** Throws if guards block a change of the mode. */
export async function offerMode(
  place: { sessionId: string; branch: string; parentId: string | null; history: readonly Message.Info[] },
  { from, to }: { from: string; to: string },
): Promise<void> {
  const { history, ...where } = place
  const session = { id: place.sessionId, branch: place.branch }
  const guards = await openGuards({ session, progress: { history } })
  const blocked = guards?.offerMode(to) ?? []
  if (!blocked.length) return
  const by = blocked.map(blockingOf)
  const messageId = await writeControl(where, "mode_blocked", { from, to, by })
  publish({ session }, { messageId, action: "mode" }, blocked)
  throw new Denied(to, blocked)
}

function keepProgram({ session }: Run, guards: SessionGuards): void {
  const kept = programs()
  const [oldest] = kept.keys()
  if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest)
  kept.set(session.id, guards)
}

function isCutTask(message: Message.Info): message is Message.Of<"tool_result"> {
  if (message.type !== "tool_result" || message.data.status !== "interrupted") return false
  return ["subtask", "delegate"].includes(message.data.toolName) && !keptOf(message).tasks
}

function heldInRow(history: readonly Message.Info[]): number {
  let held = 0
  for (const message of history.toReversed()) {
    if (message.type === "tool_request" || (message.type === "text" && message.data.role === "user")) break
    if (message.type === "text" && message.data.origin?.kind === noteKind) held++
  }
  return held
}

function publish(
  { session }: Pick<Place, "session">,
  what: { messageId: string; callId?: string; action: string },
  blocked: readonly Blocked[],
): void {
  for (const one of blocked)
    Bus.publish(BlockedEvent, { sessionId: session.id, ...what, guard: one.guard, reason: sayReason(one) })
}

function sayBlocked(blocked: readonly Blocked[]): string {
  return blocked.map((one) => `The guard "${one.guard}" blocks it: ${sayReason(one)}`).join(" ")
}

function sayReason({ reason, until }: Blocked): string {
  return `${ended(reason)}${until ? ` This ends the block: ${ended(until)}` : ""}`
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function upper(text: string): string {
  return ended(text.charAt(0).toUpperCase() + text.slice(1))
}
