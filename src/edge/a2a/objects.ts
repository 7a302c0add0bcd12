// Makes the objects of the protocol: messages, statuses, artifacts and updates. The SDK's types have every field of the
// wire format, also the empty ones.
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk"
import { RequestMalformedError } from "@a2a-js/sdk/errors"
import { createId } from "#util/id.ts"

export type Place = { id: string; contextId: string }

const terminal = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
])

/** A task in one of these states never changes again. */
export function isTerminal(state: TaskState): boolean {
  return terminal.has(state)
}

/** Whether a client has to act, or has nothing to wait for. */
export function isStopped(state: TaskState): boolean {
  return isTerminal(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED
}

export function stateOf(task: Task): TaskState {
  return task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED
}

export function textPart(text: string): Part {
  return {
    content: { $case: "text", value: text },
    metadata: undefined,
    filename: "",
    mediaType: "text/plain",
  }
}

export function dataPart(value: unknown): Part {
  return {
    content: { $case: "data", value },
    metadata: undefined,
    filename: "",
    mediaType: "application/json",
  }
}

export function agentMessage({ id, contextId }: Place, parts: Part[]): Message {
  return {
    messageId: createId("msg"),
    contextId,
    taskId: id,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}

export function answerArtifact(text: string): Artifact {
  return {
    artifactId: "answer",
    name: "answer",
    description: "",
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
  }
}

export function taskUpdate(task: Task): StreamResponse {
  return { payload: { $case: "task", value: structuredClone(task) } }
}

export function statusUpdate(
  { id, contextId }: Place,
  status: Task["status"],
  metadata?: Task["metadata"],
): StreamResponse {
  return { payload: { $case: "statusUpdate", value: { taskId: id, contextId, status, metadata } } }
}

/** The whole artifact: an answer is not sent in pieces. */
export function artifactUpdate({ id, contextId }: Place, artifact: Artifact): StreamResponse {
  const value = { taskId: id, contextId, artifact, append: false, lastChunk: true, metadata: undefined }
  return { payload: { $case: "artifactUpdate", value } }
}

/** Checked before a message begins a task: a client that gets an error must not have one. */
export function checkHistoryLength({ historyLength = 0 }: { historyLength?: number | undefined } = {}): void {
  if (!Number.isInteger(historyLength) || historyLength < 0)
    throw new RequestMalformedError("historyLength must be a whole number, 0 or more")
}

/** The task with at most so many of its last messages. */
export function withHistory(
  task: Task,
  { historyLength }: { historyLength?: number | undefined } = {},
): Task {
  checkHistoryLength({ historyLength })
  if (historyLength === undefined) return task
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) }
}
