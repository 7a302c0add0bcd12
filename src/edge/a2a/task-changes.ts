// The changes of a task at work: stored first, then sent to the streams that follow the task, and posted to its push
// addresses, in the order in which they happened.
import { type Message as ClientMessage, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk"
import type * as Permission from "#ability/permission/permission.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import { agentMessage, stateOf, statusUpdate, textPart } from "./objects.ts"
import { withoutBytes } from "./prompt-of.ts"
import { notify } from "./push-notifications.ts"
import type { Question } from "./questions.ts"
import * as TaskRecord from "./task-record.ts"

export type Serving = {
  agent: Agent
  /** The rules of the command line, for as long as the server runs. */
  rules: readonly Permission.Rule[]
  asks: "wait" | "once"
}
type Listener = (update: StreamResponse) => void
export type Live = {
  readonly serving: Serving
  readonly sessionId: string
  /** As it was last stored and sent. */
  task: Task
  /** With the changes that are still being stored. */
  next: Task
  listeners: Set<Listener>
  questions: Map<string, Question>
  answer: Message.Info | undefined
  /** Prompts that joined the first one, or follow it. */
  joined: Promise<void>[]
  isFollowed: boolean
  isCanceled: boolean
  ending: AbortController
  /** Stores and sends the changes, one after the other. */
  changes: Promise<void>
  notifications: Promise<void>
  done: Promise<void>
}
/** Stores the new status, and then sends it, after the updates before it. */
export function change(live: Live, status: NonNullable<Task["status"]>, ...before: StreamResponse[]): void {
  const isQuestion = status.state === TaskState.TASK_STATE_INPUT_REQUIRED && status.message
  const history = isQuestion ? [...live.next.history, status.message!] : live.next.history
  const task = { ...live.next, status, history }
  live.next = task
  live.changes = live.changes.then(async () => {
    const stored = await store(task)
    live.task = task
    for (const update of [...before, statusUpdate(task, status, task.metadata)]) {
      emit(live, update)
      if (stored?.push.length)
        live.notifications = live.notifications.then(() => notify(stored, update, live.serving.rules))
    }
  })
}

/** Adds a message of the client to the history. */
export function remember(live: Live, message: ClientMessage): void {
  const kept = withoutBytes({ ...message, contextId: live.task.contextId })
  const withMessage = (task: Task) => ({ ...task, history: [...task.history, kept] })
  live.next = withMessage(live.next)
  live.changes = live.changes.then(async () => {
    live.task = withMessage(live.task)
    await store(live.task)
  })
}

/** Progress is sent to streams only: it is neither stored nor posted. */
export function report(live: Live, line: string): void {
  const status = {
    ...statusOf(TaskState.TASK_STATE_WORKING),
    message: agentMessage(live.task, [textPart(line)]),
  }
  if (stateOf(live.next) === TaskState.TASK_STATE_WORKING)
    live.changes = live.changes.then(() => emit(live, statusUpdate(live.task, status)))
}

/** A task goes on if the disk is full; its client is told what happened. */
async function store(task: Task): Promise<TaskRecord.TaskRecord | undefined> {
  try {
    return await TaskRecord.update(task)
  } catch (error) {
    // It was removed with its session.
    if (error instanceof Storage.NotFound) return undefined
    Log.error("an A2A task could not be stored", { task: task.id, error })
    return undefined
  }
}

function emit(live: Live, update: StreamResponse): void {
  for (const listener of [...live.listeners]) listener(update)
}

export function statusOf(state: TaskState): NonNullable<Task["status"]> {
  return { state, message: undefined, timestamp: new Date().toISOString() }
}
