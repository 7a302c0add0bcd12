// The tasks that this process works on. Each is a prompt of the agent; its events become the status of the task.
import { type Message as ClientMessage, TaskState } from "@a2a-js/sdk"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import type * as Permission from "#ability/permission/permission.ts"
import { callLine } from "#engine/host/call-line.ts"
import type { AgentInput, AgentOutput } from "#engine/host/create-agent.ts"
import * as Session from "#engine/session/session.ts"
import { answerText } from "#engine/turn/spawn-task.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import type * as Message from "#knowledge/message/message.ts"
import { errorText } from "#util/error.ts"
import { orAborted, orGivenUp, waitAtMost } from "#util/wait.ts"
import { agentMessage, answerArtifact, artifactUpdate, isStopped, stateOf, textPart } from "./objects.ts"
import { answerQuestion, type Question, sayQuestion } from "./questions.ts"
import { change, type Live, remember, report, type Serving, statusOf } from "./task-changes.ts"
import * as TaskRecord from "./task-record.ts"

type Prompt = Pick<AgentInput, "text" | "parts" | "agent">

/** Milliseconds that tasks get to store their end when the server stops. */
const patience = 3_000
/** Milliseconds that the agent has to end a prompt that was canceled. It may be the agent of a program. */
const cancelPatience = 10_000

const all = Instance.state(
  () => new Map<string, Live>(),
  async (tasks) => {
    const working = [...tasks.values()]
    for (const { ending } of working) ending.abort(Session.runtimeStops)
    const ended = working.map((live) => live.done.then(() => live.notifications))
    await waitAtMost(patience, Promise.all(ended))
  },
  { isWork: true },
)

export function find(id: string): Live | undefined {
  return all().get(id)
}

/** Begin or continue a task whose record exists. It waits for the earlier tasks of its session. */
export function start(
  serving: Serving,
  { task, sessionId }: Pick<TaskRecord.TaskRecord, "task" | "sessionId">,
  prompt: Prompt,
): Live {
  const tasks = all()
  const before = [...tasks.values()].filter((other) => other.sessionId === sessionId).map(({ done }) => done)
  const live: Live = {
    serving,
    sessionId,
    task,
    next: task,
    listeners: new Set(),
    questions: new Map(),
    answer: undefined,
    joined: [],
    isFollowed: true,
    isCanceled: false,
    ending: new AbortController(),
    changes: Promise.resolve(),
    notifications: Promise.resolve(),
    done: Promise.resolve(),
  }
  tasks.set(task.id, live)
  const release = Instance.hold()
  live.done = work(live, { prompt, before }).finally(() => {
    tasks.delete(task.id)
    release()
  })
  return live
}

/** A message to a task that works: it answers the oldest open question, or joins the prompt. */
export async function send(
  live: Live,
  { message, prompt }: { message: ClientMessage; prompt: Prompt },
): Promise<void> {
  remember(live, message)
  const [question] = live.questions.values()
  if (question) {
    await answerQuestion(question, message, prompt.text ?? "")
    closeQuestion(live, question.id)
  } else live.joined.push(follow(live, { ...prompt, whenBusy: "steer" }).catch(() => {}))
  await live.changes
}

export async function cancel(live: Live): Promise<void> {
  live.isCanceled = true
  live.ending.abort("the client canceled the task")
  await live.done
}

/** Resolves when the client has to act, or has nothing to wait for. */
export async function untilStopped(live: Live): Promise<void> {
  while (!isStopped(stateOf(live.next))) {
    const { promise, resolve } = Promise.withResolvers<void>()
    live.listeners.add(resolve as () => void)
    await Promise.race([promise, live.done])
    live.listeners.delete(resolve as () => void)
  }
  await live.changes
}

async function work(
  live: Live,
  { prompt, before }: { prompt: Prompt; before: Promise<void>[] },
): Promise<void> {
  try {
    await orAborted(Promise.all(before), live.ending.signal)
    change(live, statusOf(TaskState.TASK_STATE_WORKING))
    await follow(live, prompt)
    live.isFollowed = false
    while (live.joined.length) await Promise.all(live.joined.splice(0))
    complete(live)
  } catch (error) {
    fail(live, error)
  }
  await live.changes
}

async function follow(live: Live, prompt: Prompt & Pick<AgentInput, "whenBusy">): Promise<void> {
  const { agent, rules, asks } = live.serving
  const events = agent.process({
    ...prompt,
    sessionId: live.sessionId,
    // The prompt usually comes from another model: `@path` and `/command` in it mean nothing.
    mentionsIn: "",
    isText: true,
    asks,
    rules: [...rules],
    signal: live.ending.signal,
  })
  const isFirst = prompt.whenBusy === undefined
  let isGivenUp = false
  const takeAll = async () => {
    for await (const event of events) {
      if (isGivenUp) return
      // While the first prompt runs, its own events include those of prompts that joined it.
      if (isFirst || !live.isFollowed) take(live, event)
    }
  }
  try {
    await orGivenUp(takeAll(), { signal: live.ending.signal, after: cancelPatience })
  } finally {
    isGivenUp = true
  }
}

function take(live: Live, { type, payload }: AgentOutput): void {
  if (type === "permission.requested")
    openQuestion(live, { kind: "permission", ...idOf(payload), request: payload as Permission.Request })
  else if (type === "elicitation.requested")
    openQuestion(live, { kind: "elicitation", ...idOf(payload), request: payload as Elicitation.Request })
  else if (type === "permission.replied") closeQuestion(live, idOf(payload).id)
  else if (type === "message.created")
    takeMessage(live, payload as { sessionId: string; message: Message.Info })
}

function takeMessage(live: Live, { sessionId, message }: { sessionId: string; message: Message.Info }): void {
  // The reply to an elicitation may name no session, and is then not among the events.
  for (const { kind, id } of live.questions.values())
    if (kind === "elicitation" && !Elicitation.pending().some((one) => one.id === id)) closeQuestion(live, id)
  if (message.type === "tool_result") report(live, callLine(message.data))
  const isAnswer = message.type === "text" && message.data.role === "assistant"
  if (isAnswer && sessionId === live.sessionId) live.answer = message
}

function openQuestion(live: Live, question: Question): void {
  live.questions.set(question.id, question)
  if (live.questions.size === 1) sayOldest(live)
}

function closeQuestion(live: Live, id: string): void {
  if (!live.questions.delete(id)) return
  if (live.questions.size) sayOldest(live)
  else change(live, statusOf(TaskState.TASK_STATE_WORKING))
}

function sayOldest(live: Live): void {
  const [question] = live.questions.values()
  const message = agentMessage(live.task, sayQuestion(question!))
  change(live, { ...statusOf(TaskState.TASK_STATE_INPUT_REQUIRED), message })
}

function complete(live: Live): void {
  const artifact = answerArtifact(Secret.redact(live.answer ? answerText(live.answer) : ""))
  live.next = { ...live.next, artifacts: [artifact] }
  change(live, statusOf(TaskState.TASK_STATE_COMPLETED), artifactUpdate(live.task, artifact))
}

function fail(live: Live, error: unknown): void {
  const reason = errorText(error)
  const isEnd = live.ending.signal.reason === Session.runtimeStops || reason.includes(Session.runtimeStops)
  if (isEnd && !live.isCanceled) {
    live.next = TaskRecord.interrupted(live.next)
    change(live, live.next.status!)
    return
  }
  const isStop = live.isCanceled || error instanceof Session.Interrupted
  const state = isStop ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_FAILED
  const message = agentMessage(live.task, [textPart(Secret.redact(reason))])
  change(live, { ...statusOf(state), message })
}

function idOf(payload: unknown): { id: string } {
  return { id: (payload as { id: string }).id }
}
