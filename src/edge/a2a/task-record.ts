// The records of tasks. A task is one prompt of a session; tasks of the same context share the session. A task whose
// process ended while it worked is shown as waiting for input: a message continues it.
import {
  type ListTasksRequest,
  type ListTasksResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
} from "@a2a-js/sdk"
import { RequestMalformedError } from "@a2a-js/sdk/errors"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { hashText } from "#util/hash-text.ts"
import { isRunning, ownLife, type ProcessLife } from "#util/process.ts"
import { agentMessage, isTerminal, stateOf, textPart } from "./objects.ts"

/** `task` and `push` are in the wire format, so that a record says what a client was sent. */
type Stored = { sessionId: string; owner: ProcessLife; task: unknown; push: unknown[] }
export type TaskRecord = {
  sessionId: string
  /** The process that works on the task, or worked on it last. */
  owner: ProcessLife
  task: Task
  push: TaskPushNotificationConfig[]
}
type Context = { contextId: string; sessionId: string }

const area = "a2a_task"
const contexts = "a2a_context"
const usualPage = 50
const maxPage = 100
const stopped = "The server stopped while it worked on this task. Send a message to the task to continue it."

export async function create({ sessionId, task, push }: Omit<TaskRecord, "owner">): Promise<void> {
  const record: Stored = { sessionId, owner: ownLife(), task: Task.toJSON(task), push: push.map(toJson) }
  await Storage.write(keyOf(task.id), record)
}

/** The session of a context; undefined if the context is new. */
export async function sessionOf(contextId: string): Promise<string | undefined> {
  try {
    return (await Storage.read<Context>(contextKey(contextId))).sessionId
  } catch (error) {
    if (error instanceof Storage.NotFound) return undefined
    throw error
  }
}

/** Gives a new context its session. Two tasks may begin the same context at once: the first session stays, and is
 * returned to both. */
export async function claimContext(contextId: string, sessionId: string): Promise<string> {
  const claim = (draft: Partial<Context>) => {
    draft.sessionId ??= sessionId
  }
  const context = await Storage.update<Partial<Context>>(contextKey(contextId), claim, {
    initial: { contextId },
  })
  return context.sessionId!
}

/** Undefined if there is no such task in this project. */
export async function find(id: string): Promise<TaskRecord | undefined> {
  try {
    return parse(await Storage.read<Stored>(keyOf(id)))
  } catch (error) {
    if (error instanceof Storage.NotFound || error instanceof Storage.InvalidKey) return undefined
    throw error
  }
}

/** Stores a task as it is now; its owner becomes this process. */
export async function update(task: Task): Promise<TaskRecord> {
  const stored = await Storage.update<Stored>(keyOf(task.id), (draft) => {
    draft.task = Task.toJSON(task)
    draft.owner = ownLife()
  })
  return parse(stored)
}

/** Two clients may change the configurations at once: `change` gets those that are stored. */
export async function changePush(
  id: string,
  change: (push: TaskPushNotificationConfig[]) => TaskPushNotificationConfig[],
): Promise<void> {
  await Storage.update<Stored>(keyOf(id), (draft) => {
    draft.push = change(draft.push.map(fromJson)).map(toJson)
  })
}

/** Whether another process works on the task now. */
export function isElsewhere({ owner, task }: TaskRecord): boolean {
  return owner.pid !== process.pid && !isTerminal(stateOf(task)) && isRunning(owner)
}

/** The task as a client sees it. A record that says "working" while nobody works on it was left by a process that ended. */
export function shown(record: TaskRecord, isLive: boolean): Task {
  const { task } = record
  const state = stateOf(task)
  const isWaiting = state === TaskState.TASK_STATE_INPUT_REQUIRED && task.metadata?.interrupted === true
  if (isLive || isTerminal(state) || isWaiting || isElsewhere(record)) return task
  return interrupted(task, task.status?.timestamp)
}

/** A task that was stopped before its end, by the end of the process. */
export function interrupted(task: Task, timestamp = new Date().toISOString()): Task {
  const message = { ...agentMessage(task, [textPart(stopped)]), messageId: `${task.id}_stopped` }
  return {
    ...task,
    status: { state: TaskState.TASK_STATE_INPUT_REQUIRED, message, timestamp },
    metadata: { ...task.metadata, interrupted: true },
  }
}

/** The tasks of this project that fit, the last changed first, one page of them. */
export async function list(
  request: ListTasksRequest,
  { isLive, isVisible }: { isLive(id: string): boolean; isVisible(sessionId: string): Promise<boolean> },
): Promise<ListTasksResponse> {
  const {
    contextId,
    status,
    pageToken,
    statusTimestampAfter,
    pageSize = usualPage,
    includeArtifacts,
  } = request
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > maxPage)
    throw new RequestMalformedError(`pageSize is ${pageSize}; 1 to ${maxPage} are possible`)
  if (status === TaskState.UNRECOGNIZED) throw new RequestMalformedError("status is not a state of a task")
  const after = statusTimestampAfter ? Date.parse(statusTimestampAfter) : Number.NEGATIVE_INFINITY
  if (Number.isNaN(after)) throw new RequestMalformedError("statusTimestampAfter is not a time in ISO 8601")
  const fitting: { sessionId: string; task: Task }[] = []
  await Storage.readAll<Stored>([area, Instance.project.id], (stored, id) => {
    const task = shown(parse(stored), isLive(id))
    if (contextId && task.contextId !== contextId) return
    if (status && stateOf(task) !== status) return
    if (Date.parse(task.status?.timestamp ?? "") <= after) return
    fitting.push({
      sessionId: stored.sessionId,
      task: includeArtifacts ? task : { ...task, artifacts: [] },
    })
  })
  const visible = await Promise.all(fitting.map(({ sessionId }) => isVisible(sessionId)))
  const found = fitting.filter((_, at) => visible[at]).map(({ task }) => task)
  found.sort((a, b) => (cursorOf(a) < cursorOf(b) ? 1 : -1))
  const last = pageToken ? decode(pageToken) : undefined
  const rest = last === undefined ? found : found.filter((task) => cursorOf(task) < last)
  const tasks = rest.slice(0, pageSize)
  const nextPageToken = rest.length > tasks.length ? encode(cursorOf(tasks.at(-1)!)) : ""
  return { tasks, nextPageToken, pageSize, totalSize: found.length }
}

function toJson(config: TaskPushNotificationConfig): unknown {
  return TaskPushNotificationConfig.toJSON(config)
}

function fromJson(config: unknown): TaskPushNotificationConfig {
  return TaskPushNotificationConfig.fromJSON(config)
}

function cursorOf({ status, id }: Task): string {
  return `${status?.timestamp ?? ""} ${id}`
}

function encode(cursor: string): string {
  return Buffer.from(cursor).toString("base64url")
}

function decode(token: string): string {
  const cursor = Buffer.from(token, "base64url").toString()
  if (encode(cursor) === token && /^\S* \S+$/.test(cursor)) return cursor
  throw new RequestMalformedError("pageToken is not one of an earlier answer")
}

function parse({ sessionId, owner, task, push }: Stored): TaskRecord {
  return {
    sessionId,
    owner,
    task: Task.fromJSON(task),
    push: push.map(fromJson),
  }
}

function keyOf(id: string): string[] {
  return [area, Instance.project.id, id]
}

function contextKey(contextId: string): string[] {
  return [contexts, Instance.project.id, hashText(contextId)]
}
