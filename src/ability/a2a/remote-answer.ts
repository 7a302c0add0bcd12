// What a remote agent has said about a task so far: its state, its progress and its results. All of it is text from
// another machine: hidden characters are made visible, and the size is bounded.
import { type Artifact, type Part, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk"
import { hashText } from "#util/hash-text.ts"
import { plainText } from "#util/plain-text.ts"

export type RemoteAnswer = Readonly<{
  take(update: StreamResponse): void
  takeTask(task: Task): void
  /** The ids of the task; undefined until the agent has told them. */
  task(): { taskId: string; contextId: string } | undefined
  state(): TaskState
  /** The message of the last status. */
  said(): string
  /** The process of the agent ended while it worked. A message continues the task. */
  isInterrupted(): boolean
  /** The results; or the message, if the agent answered without a task. */
  text(): string
}>

/** Characters of all results, of one message, of one line of progress, and of all of them. */
const maxText = 2_000_000
const maxSaid = 4_000
const maxLine = 500
const maxProgress = 200_000
const maxResults = 1_000

export function createRemoteAnswer(onProgress: (line: string) => void): RemoteAnswer {
  /** By the hash of the artifact's id, which may be long. */
  const results = new Map<string, string>()
  let ids: { taskId: string; contextId: string } | undefined
  let state = TaskState.TASK_STATE_UNSPECIFIED
  let said = ""
  let message: string | undefined
  let isInterrupted = false
  let size = 0
  let isCut = false
  let progress = 0

  function takeTask(task: Task): void {
    ids = { taskId: task.id, contextId: task.contextId }
    results.clear()
    size = 0
    isCut = false
    for (const artifact of task.artifacts) addResult(artifact, false)
    takeStatus(task.status, task.metadata)
  }

  function takeStatus(status: Task["status"], metadata: Task["metadata"]): void {
    state = status?.state ?? state
    isInterrupted = metadata?.interrupted === true
    said = plainText(wordsOf(status?.message?.parts ?? []), maxSaid)
    if (said && state === TaskState.TASK_STATE_WORKING) showProgress(said.slice(0, maxLine))
  }

  function showProgress(line: string): void {
    progress += line.length
    if (progress <= maxProgress) onProgress(line)
  }

  function addResult(artifact: Artifact | undefined, append: boolean): void {
    if (!artifact) return
    const key = hashText(artifact.artifactId)
    const before = results.get(key)
    const start = append ? (before ?? "") : ""
    const text = start + textOf(artifact.parts)
    const limit = maxText - size + (before?.length ?? 0)
    const isTooMany = before === undefined && results.size >= maxResults
    isCut ||= text.length > limit || isTooMany
    if (isTooMany) return
    const kept = text.slice(0, limit)
    size += kept.length - (before?.length ?? 0)
    results.set(key, kept)
  }

  function take({ payload }: StreamResponse): void {
    if (payload?.$case === "task") takeTask(payload.value)
    else if (payload?.$case === "statusUpdate") takeStatus(payload.value.status, payload.value.metadata)
    else if (payload?.$case === "artifactUpdate") addResult(payload.value.artifact, payload.value.append)
    else if (payload?.$case === "message") {
      message = textOf(payload.value.parts)
      state = TaskState.TASK_STATE_COMPLETED
    }
  }

  function text(): string {
    const found = message ?? [...results.values()].filter(Boolean).join("\n\n")
    return plainText(found || said, maxText) + (isCut ? "\n[the rest was left out]" : "")
  }

  return Object.freeze({
    take,
    takeTask,
    task: () => ids,
    state: () => state,
    said: () => said,
    isInterrupted: () => isInterrupted,
    text,
  })
}

/** The texts of a message. Its data is for programs that know it; it counts only if there is no text. */
function wordsOf(parts: Part[]): string {
  const texts = parts.filter(({ content }) => content?.$case === "text")
  return textOf(texts.length ? texts : parts)
}

function textOf(parts: Part[]): string {
  const texts = parts.map(({ content, filename, mediaType }) => {
    if (content?.$case === "text") return content.value
    if (content?.$case === "data") return JSON.stringify(content.value, undefined, 2)
    if (content?.$case === "url") return content.value
    return content?.$case === "raw"
      ? `(${filename || "a file"}, ${mediaType}, ${content.value.length} bytes)`
      : ""
  })
  return texts.filter(Boolean).join("\n")
}
